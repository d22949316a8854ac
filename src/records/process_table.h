#pragma once

// ProcessTable: the tasks that live, as records tell of them, and their rows in
// the profile. Rows are made when a task has its first sample of a run, so that a
// build of ten thousand short children leaves rows only for those that were seen.
// Past kMaxProcessRows further processes of a run share a row per name, and
// likewise threads.

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/builder.h"
#include "records/record.h"

namespace culprit {

class ProcessTable {
 public:
  struct Thread {
    std::string name;
    ThreadId row;
    uint32_t ordinal = 0;    // 1: the process's first; 0: not known
    ContextId contexts[6];   // by Mode; made when needed
    uint64_t forked_ns = 0;  // 0: not known
    bool has_ended = false;
  };
  struct Process {
    uint32_t pid = 0;
    uint32_t parent_pid = 0;
    std::string name;
    bool is_counted = false;        // its samples are
    bool counts_from_exec = false;  // the command, before it is one
    ProcessId row;
    uint64_t forked_ns = 0;      // 0: not known
    uint32_t threads_begun = 0;  // 0: nobody saw its beginning
    std::unordered_map<uint32_t, Thread> threads;

    /// A process ends with its last thread. Recordings do not announce all threads, but the
    /// first one is always known: it has the process's number.
    [[nodiscard]] bool has_ended() const;
  };

  /// `renaming_splits`: what a task did under an older name stays under it, in a row of its
  /// own (perf's way; kernels before 3.16 do not tell exec from a new name).
  explicit ProcessTable(bool count_all, bool renaming_splits = false)
      : count_all_(count_all), renaming_splits_(renaming_splits) {}

  Process& add(uint32_t pid, uint32_t parent_pid, std::string_view name);
  [[nodiscard]] Process* find(uint32_t pid);
  void forget(uint32_t pid) { processes_.erase(pid); }

  /// A new process or thread. Null if it does not matter here (its parent is not counted).
  /// Several events of one recording may each tell of the same fork, or exit.
  Process* fork(const ForkRecord& fork);
  /// Whether this fork has been told of already.
  [[nodiscard]] bool is_known(const ForkRecord& fork);
  /// A new program: a new row.
  void exec(Process& process, std::string_view name);
  void rename(Process& process, uint32_t tid, std::string_view name, ProfileBuilder& builder);
  void exit(Process& process, uint32_t tid, uint64_t time_ns);

  /// The builder has begun another run. Tasks go on, but rows belong to one run: each task gets
  /// new ones with its next sample.
  void begin_run(const ProfileBuilder& builder);

  /// The context of a sample; makes the rows that it needs.
  ContextId context(Process& process, uint32_t tid, Mode mode, ProfileBuilder& builder);

  /// The next process that ended before `time_ns`, already forgotten here; 0 if there is none.
  /// Kernel work at the end of a task comes after its EXIT record, so they stay for a while.
  uint32_t take_ended(uint64_t time_ns);

  static constexpr size_t kMaxProcessRows = 1024;
  static constexpr size_t kMaxThreadRows = 4096;

 private:
  struct Ended {
    uint64_t time_ns;
    uint32_t pid;
    uint32_t tid;
  };

  static void begin_threads(Process& process);
  ProcessId make_process_row(const Process& process, ProfileBuilder& builder);
  ThreadId make_thread_row(const Process& process, uint32_t tid, const Thread& thread,
                           ProfileBuilder& builder);

  bool count_all_;
  bool renaming_splits_;
  std::unordered_map<uint32_t, Process> processes_;
  size_t first_process_row_ = 0;  // of this run
  size_t first_thread_row_ = 0;
  std::unordered_map<std::string, ProcessId> folded_processes_;
  std::unordered_map<uint64_t, ThreadId> folded_threads_;  // by process row and name
  std::deque<Ended> ended_;
};

}  // namespace culprit
