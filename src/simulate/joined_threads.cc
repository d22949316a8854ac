#include "simulate/joined_threads.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "model/engine.h"

namespace culprit {
namespace {

constexpr size_t kCommLength = 15;  // of names, as the kernel keeps them

/// Rows of the native and of the simulated run that have something in common.
template <class IdType>
struct Both {
  std::vector<IdType> native;
  std::vector<IdType> simulated;
};

class Join {
 public:
  Join(const NativeSamples& samples, Profile& both) : samples_(samples), both_(both) {}

  JoinedThreads join();

 private:
  using Threads = std::map<uint32_t, Both<ThreadId>>;  // by ordinal

  bool is_of_simulated(ProcessId process) const;
  std::vector<std::pair<ProcessId, ProcessId>> pair_processes() const;
  Threads pair_threads(ProcessId native, ProcessId simulated) const;
  void find_executed();
  bool runs_the_same(ThreadId native, ThreadId simulated) const;
  void join_process(ProcessId native, ProcessId simulated);

  const NativeSamples& samples_;
  Profile& both_;
  std::map<Location, std::vector<ThreadId>> executed_by_;  // where there are samples
  std::map<ProcessId, ProcessId> processes_;               // of the simulated run: the native one's
  std::map<ThreadId, ThreadId> threads_;
  JoinedThreads result_;
};

bool Join::is_of_simulated(ProcessId process) const {
  if (process.value >= both_.processes.size()) return false;
  const RunId run = both_.processes[process.value].run;
  return run.value < both_.runs.size() && is_simulated(both_, both_.runs[run.value]);
}

std::vector<std::pair<ProcessId, ProcessId>> Join::pair_processes() const {
  std::map<std::string, Both<ProcessId>, std::less<>> by_name;
  for (size_t i = 0; i < both_.processes.size(); ++i) {
    const std::string_view name = both_.strings.text(both_.processes[i].name);
    Both<ProcessId>& same = by_name[std::string(name.substr(0, kCommLength))];
    (is_of_simulated(ProcessId(i)) ? same.simulated : same.native).emplace_back(i);
  }
  std::vector<std::pair<ProcessId, ProcessId>> pairs;
  const auto began_before = [&](ProcessId a, ProcessId b) {
    return both_.processes[a.value].pid < both_.processes[b.value].pid;
  };
  for (auto& [name, same] : by_name) {
    if (same.native.size() != same.simulated.size()) continue;
    std::stable_sort(same.native.begin(), same.native.end(), began_before);
    std::stable_sort(same.simulated.begin(), same.simulated.end(), began_before);
    for (size_t i = 0; i < same.native.size(); ++i) {
      pairs.emplace_back(same.native[i], same.simulated[i]);
    }
  }
  return pairs;
}

Join::Threads Join::pair_threads(ProcessId native, ProcessId simulated) const {
  Threads threads;
  for (size_t i = 0; i < both_.threads.size(); ++i) {
    const Thread& thread = both_.threads[i];
    if (thread.process == native) threads[thread.ordinal].native.emplace_back(i);
    if (thread.process == simulated) threads[thread.ordinal].simulated.emplace_back(i);
  }
  return threads;
}

void Join::find_executed() {
  for (const auto& [thread, places] : samples_.by_thread()) {
    for (const auto& [at, samples] : places) executed_by_.try_emplace(at);
  }
  for_each_executed(both_, [&](ThreadId thread, const Location& at) {
    const auto found = executed_by_.find(at);
    if (found != executed_by_.end()) found->second.push_back(thread);
  });
}

bool Join::runs_the_same(ThreadId native, ThreadId simulated) const {
  const auto found = samples_.by_thread().find(native);
  if (found == samples_.by_thread().end()) return true;
  uint64_t by_any = 0;
  uint64_t by_this = 0;
  for (const auto& [at, samples] : found->second) {
    const std::vector<ThreadId>& threads = executed_by_.at(at);
    if (threads.empty()) continue;
    by_any += samples;
    if (std::find(threads.begin(), threads.end(), simulated) != threads.end()) by_this += samples;
  }
  return 2 * by_this >= by_any;
}

void Join::join_process(ProcessId native, ProcessId simulated) {
  processes_[simulated] = native;
  for (const auto& [ordinal, same] : pair_threads(native, simulated)) {
    const bool is_pair = ordinal != 0 && same.native.size() == 1 && same.simulated.size() == 1;
    if (is_pair && runs_the_same(same.native.front(), same.simulated.front())) {
      threads_[same.simulated.front()] = same.native.front();
      ++result_.joined;
    } else if (is_pair) {
      ++result_.differing;
    } else {
      result_.native_only += same.native.size();
      result_.simulated_only += same.simulated.size();
    }
  }
}

JoinedThreads Join::join() {
  find_executed();
  for (const auto& [native, simulated] : pair_processes()) join_process(native, simulated);
  for (const Thread& thread : both_.threads) {
    if (is_of_simulated(thread.process)) {
      result_.simulated_only += processes_.contains(thread.process) ? 0 : 1;
    } else {
      const bool is_joined =
          std::any_of(processes_.begin(), processes_.end(),
                      [&](const auto& one) { return one.second == thread.process; });
      result_.native_only += is_joined ? 0 : 1;
    }
  }
  for (Context& context : both_.contexts) {
    if (const auto at = processes_.find(context.process); at != processes_.end()) {
      context.process = at->second;
    }
    if (const auto at = threads_.find(context.thread); at != threads_.end()) {
      context.thread = at->second;
    }
  }
  // Those without a counterpart are threads of the same process all the same.
  for (size_t i = 0; i < both_.threads.size(); ++i) {
    ProcessId& process = both_.threads[i].process;
    const auto at = processes_.find(process);
    if (at != processes_.end() && !threads_.contains(ThreadId(i))) process = at->second;
  }
  return result_;
}

}  // namespace

JoinedThreads join_threads(const NativeSamples& samples, Profile& both) {
  return Join(samples, both).join();
}

std::string describe_joined(const JoinedThreads& threads) {
  if (threads == JoinedThreads{.joined = 1}) return "";
  std::string text = fmt::format(
      "threads of the simulated run that are the native run's, by the order in which they began: "
      "{}",
      format_thousands(threads.joined));
  const auto add = [&](uint64_t count, std::string_view what) {
    if (count > 0) text += fmt::format("; {}: {}", what, format_thousands(count));
  };
  add(threads.simulated_only, "without a sample of the native run");
  add(threads.native_only, "of the native run without a counterpart");
  add(threads.differing, "shown apart, since they ran other code");
  return text;
}

}  // namespace culprit
