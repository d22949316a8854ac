#include "records/process_table.h"

#include <algorithm>
#include <iterator>

#include "model/exiting_thread.h"

namespace culprit {

ProcessTable::Process& ProcessTable::add(uint32_t pid, uint32_t parent_pid, std::string_view name) {
  Process process;
  process.pid = pid;
  process.parent_pid = parent_pid;
  process.name = name;
  process.is_counted = count_all_;
  process.threads[pid].name = name;
  return processes_[pid] = std::move(process);
}

/// The process begins, with its first thread.
void ProcessTable::begin_threads(Process& process) {
  process.threads_begun = 1;
  process.threads[process.pid].ordinal = 1;
}

ProcessTable::Process* ProcessTable::find(uint32_t pid) {
  const auto at = processes_.find(pid);
  return at == processes_.end() ? nullptr : &at->second;
}

bool ProcessTable::Process::has_ended() const {
  return std::all_of(threads.begin(), threads.end(),
                     [](const auto& thread) { return thread.second.has_ended; });
}

bool ProcessTable::is_known(const ForkRecord& fork) {
  // Each event reads the clock anew; no number is used again so soon.
  constexpr uint64_t kSameForkNs = 1'000'000;
  const auto is_same_fork = [&](uint64_t forked_ns) {
    return forked_ns < fork.time_ns + kSameForkNs && fork.time_ns < forked_ns + kSameForkNs;
  };
  const Process* const process = find(fork.pid);
  if (process == nullptr) return false;
  if (fork.pid != fork.parent_pid) {
    return process->forked_ns != 0 && process->parent_pid == fork.parent_pid &&
           is_same_fork(process->forked_ns);
  }
  const auto at = process->threads.find(fork.tid);
  if (at == process->threads.end() || at->second.has_ended) return false;
  // perf makes records of threads that ran before the recording, without a time.
  const uint64_t forked_ns = at->second.forked_ns;
  return forked_ns == 0 || fork.time_ns == 0 || is_same_fork(forked_ns);
}

ProcessTable::Process* ProcessTable::fork(const ForkRecord& fork) {
  if (is_known(fork)) return find(fork.pid);
  Process* const parent = find(fork.parent_pid);
  const bool is_thread = fork.pid == fork.parent_pid;
  if (parent == nullptr) {
    if (!is_thread) forget(fork.pid);  // the number belongs to a stranger from now on
    if (!count_all_) return nullptr;
    return &add(fork.pid, fork.parent_pid, "");
  }
  const auto forking = parent->threads.find(fork.parent_tid);
  const std::string name = forking != parent->threads.end() ? forking->second.name : parent->name;
  if (is_thread) {
    Thread& thread = parent->threads[fork.tid] = Thread{};
    thread.name = name;
    thread.forked_ns = fork.time_ns;
    if (parent->threads_begun != 0) thread.ordinal = ++parent->threads_begun;
    return parent;
  }
  const bool is_counted = parent->is_counted;
  const bool counts_from_exec = parent->counts_from_exec;
  Process& child = add(fork.pid, fork.parent_pid, name);  // `parent` may have moved
  child.is_counted = is_counted;
  child.counts_from_exec = counts_from_exec;
  child.forked_ns = fork.time_ns;
  begin_threads(child);
  return &child;
}

void ProcessTable::exec(Process& process, std::string_view name) {
  process.name = name;
  process.row = ProcessId();
  process.threads.clear();
  process.threads[process.pid].name = name;
  begin_threads(process);
  process.forked_ns = 0;
  if (process.counts_from_exec) process.is_counted = true;
  process.counts_from_exec = false;
}

void ProcessTable::rename(Process& process, uint32_t tid, std::string_view name,
                          ProfileBuilder& builder) {
  Profile& profile = builder.profile();
  Thread& thread = process.threads[tid];
  if (renaming_splits_ && !thread.name.empty() && thread.name != name) {
    const uint32_t ordinal = thread.ordinal;
    thread = Thread{};
    thread.ordinal = ordinal;
    if (tid == process.pid) process.row = ProcessId();
  }
  thread.name = name;
  if (!thread.row.is_all() && profile.threads[thread.row.value].tid == tid) {
    profile.threads[thread.row.value].name = builder.intern(name);
  }
  if (tid != process.pid) return;
  process.name = name;
  if (!process.row.is_all() && profile.processes[process.row.value].pid == process.pid) {
    profile.processes[process.row.value].name = builder.intern(name);
  }
}

void ProcessTable::exit(Process& process, uint32_t tid, uint64_t time_ns) {
  const auto [at, is_new] = process.threads.try_emplace(tid);
  if (at->second.has_ended) return;
  at->second.has_ended = true;
  ended_.push_back({time_ns, process.pid, tid});
}

uint32_t ProcessTable::take_ended(uint64_t time_ns) {
  constexpr uint64_t kWakeNs = 1'000'000'000;
  while (!ended_.empty() && ended_.front().time_ns + kWakeNs < time_ns) {
    const Ended ended = ended_.front();
    ended_.pop_front();
    Process* const process = find(ended.pid);
    if (process == nullptr) continue;
    if (process->has_ended()) {
      forget(ended.pid);
      return ended.pid;
    }
    // The number may be another thread's by now.
    const auto thread = process->threads.find(ended.tid);
    const bool is_over = thread != process->threads.end() && thread->second.has_ended;
    if (is_over && ended.tid != ended.pid) process->threads.erase(thread);
  }
  return 0;
}

void ProcessTable::begin_run(const ProfileBuilder& builder) {
  for (auto& [pid, process] : processes_) {
    process.row = ProcessId();
    for (auto& [tid, thread] : process.threads) {
      thread.row = ThreadId();
      std::fill(std::begin(thread.contexts), std::end(thread.contexts), ContextId());
    }
  }
  folded_processes_.clear();
  folded_threads_.clear();
  first_process_row_ = builder.profile().processes.size();
  first_thread_row_ = builder.profile().threads.size();
}

namespace {

/// perf's way of naming what no record has named.
std::string name_or_number(const std::string& name, uint32_t number) {
  return name.empty() ? ":" + std::to_string(static_cast<int32_t>(number)) : name;
}

}  // namespace

ProcessId ProcessTable::make_process_row(const Process& process, ProfileBuilder& builder) {
  Profile& profile = builder.profile();
  culprit::Process row{builder.run_id(), process.pid, process.parent_pid,
                       builder.intern(name_or_number(process.name, process.pid))};
  if (profile.processes.size() - first_process_row_ < kMaxProcessRows) {
    profile.processes.push_back(row);
    return ProcessId(profile.processes.size() - 1);
  }
  profile.ledger.add(ledger::kFoldedProcesses);
  const auto [at, is_new] =
      folded_processes_.try_emplace(process.name, ProcessId(profile.processes.size()));
  if (is_new) {
    row.pid = 0;
    row.parent_pid = 0;
    profile.processes.push_back(row);
  }
  return at->second;
}

ThreadId ProcessTable::make_thread_row(const Process& process, uint32_t tid, const Thread& thread,
                                       ProfileBuilder& builder) {
  Profile& profile = builder.profile();
  culprit::Thread row{process.row, tid == UINT32_MAX ? 0 : tid,
                      builder.intern(name_or_number(thread.name, tid)), thread.ordinal};
  const bool is_folded = profile.processes[process.row.value].pid == 0;
  if (!is_folded && profile.threads.size() - first_thread_row_ < kMaxThreadRows) {
    profile.threads.push_back(row);
    return ThreadId(profile.threads.size() - 1);
  }
  const uint64_t key = uint64_t{process.row.value} << 32 | row.name.value;
  const auto [at, is_new] = folded_threads_.try_emplace(key, ThreadId(profile.threads.size()));
  if (is_new) {
    row.tid = row.ordinal = 0;
    profile.threads.push_back(row);
  }
  return at->second;
}

ContextId ProcessTable::context(Process& process, uint32_t tid, Mode mode,
                                ProfileBuilder& builder) {
  // The kernel gives a task that has let go of its number this one.
  constexpr uint32_t kNoNumber = UINT32_MAX;
  const auto [at, is_new] = process.threads.try_emplace(tid);
  Thread& thread = at->second;
  if (is_new) thread.name = tid == kNoNumber ? std::string(kExitingThread) : process.name;
  ContextId& context = thread.contexts[static_cast<size_t>(mode)];
  if (!context.is_all()) return context;
  if (process.row.is_all()) process.row = make_process_row(process, builder);
  if (thread.row.is_all()) thread.row = make_thread_row(process, tid, thread, builder);
  Context fields;
  fields.run = builder.run_id();
  fields.process = process.row;
  fields.thread = thread.row;
  fields.mode = mode;
  context = builder.intern_context(fields);
  return context;
}

}  // namespace culprit
