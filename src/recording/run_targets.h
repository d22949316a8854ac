#pragma once

// RunTargets: what a run is of, and when that has ended. A command that we start, processes that
// run already, or neither: then (a cgroup, the whole system) only somebody outside ends it.

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "recording/descriptor_limit.h"
#include "recording/started_command.h"

namespace culprit {

/// A process that somebody else has started. Its number may be another's once it has ended: it is
/// known by a descriptor, or by its folder in /proc where the kernel has no such descriptors.
class WatchedProcess {
 public:
  explicit WatchedProcess(pid_t pid);

  /// Whether all of its threads have ended, whether or not its parent has noticed.
  [[nodiscard]] bool has_ended() const;
  /// Readable when it has ended; -1 if this kernel, or a filter, has no such descriptors.
  [[nodiscard]] int end_descriptor() const { return pidfd_.get(); }

 private:
  Fd pidfd_;
  Fd folder_;
};

/// Whether a process has ended, by its line in /proc/PID/stat: it is a zombie, and so its last
/// thread. Damaged text is of a process that runs.
bool is_ended_process(const std::string& stat_line);

struct TargetOptions {
  const std::vector<std::string>& command;
  const std::vector<pid_t>& pids;
  const std::vector<std::string>* environment = nullptr;  // of the command; null: our own
};

class RunTargets {
 public:
  /// Starts the command, if there is one, which waits until it is let go. Then descriptors are
  /// made as many as permitted, which the command does not see.
  Result<void> prepare(const TargetOptions& options);

  [[nodiscard]] StartedCommand* command() { return command_ ? &*command_ : nullptr; }
  [[nodiscard]] const StartedCommand* command() const { return command_ ? &*command_ : nullptr; }

  /// Whether the command has ended, or the last of the processes.
  bool have_ended();
  /// A descriptor for each, readable when it has ended; -1: it has to be looked at.
  [[nodiscard]] std::vector<int> end_descriptors() const;

 private:
  DescriptorLimit limit_;
  std::optional<StartedCommand> command_;
  bool has_processes_ = false;
  std::vector<WatchedProcess> processes_;  // that run yet
};

}  // namespace culprit
