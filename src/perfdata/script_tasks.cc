#include "perfdata/script_tasks.h"

namespace culprit {

ScriptTasks::ScriptTasks() {
  tasks_[0] = {0, "swapper"};
}

void ScriptTasks::add(const RecordBody& record) {
  if (const auto* const comm = std::get_if<CommRecord>(&record)) {
    tasks_[comm->tid] = {comm->pid, comm->name};
  } else if (const auto* const fork = std::get_if<ForkRecord>(&record)) {
    const auto parent = tasks_.find(fork->parent_tid);
    tasks_[fork->tid] = {fork->pid, parent == tasks_.end() ? "" : parent->second.comm};
  } else if (const auto* const map = std::get_if<MmapRecord>(&record)) {
    if (map->mode == Mode::user) tasks_.try_emplace(map->tid, Task{map->pid, ""});
  }
}

uint32_t ScriptTasks::find_process(const ScriptHead& head) {
  constexpr size_t kMostTasks = size_t{1} << 20;  // more are a damaged file's
  if (tasks_.size() >= kMostTasks) tasks_.clear();
  const auto [at, is_new] = tasks_.try_emplace(head.tid, Task{head.pid.value_or(head.tid), ""});
  if (head.pid) return at->second.pid = *head.pid;
  if (is_new) ++guessed_;
  return at->second.pid;
}

std::optional<CommRecord> ScriptTasks::learn_name(const ScriptHead& head) {
  const uint32_t pid = find_process(head);
  Task& task = tasks_[head.tid];
  // perf writes ":123" for a thread whose name it does not know.
  if (head.comm.empty() || head.comm.starts_with(':') || task.comm == head.comm) {
    return std::nullopt;
  }
  CommRecord comm;
  comm.pid = pid;
  comm.tid = head.tid;
  comm.name = task.comm = head.comm;
  return comm;
}

}  // namespace culprit
