#pragma once

// The command of a run: forked first, so that what watches it can be set up, and let go when that
// is done.
//
//   hold()      the child waits             its signals, limits, terminal and, if none is
//   ...         events are opened           given, its environment are those of our caller
//   let_go()    the child execs; an error if it cannot

#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "model/profile.h"

namespace culprit {

class StartedCommand {
 public:
  /// Forks. The child ends by itself if we do before letting it go. `environment` null: our own.
  static Result<StartedCommand> hold(const std::vector<std::string>& command,
                                     const std::vector<std::string>* environment = nullptr);
  StartedCommand(StartedCommand&&) = default;
  StartedCommand& operator=(StartedCommand&&) = default;
  /// hold() and let_go() in one, without a copy of our memory.
  static Result<StartedCommand> start(const std::vector<std::string>& command,
                                      const std::vector<std::string>* environment = nullptr);
  /// A child that was not let go is ended.
  ~StartedCommand();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Readable when the command has ended; -1 if this kernel has no such descriptors.
  [[nodiscard]] int end_descriptor() const { return pidfd_.get(); }

  /// Runs the program after `spin_ns` of CPU time, which makes the phase of samples random
  /// where the clock of an event runs only with its task. A child that a signal has ended is no
  /// error: its status tells.
  Result<void> let_go(uint64_t spin_ns);

  /// Whether it has ended; does not wait.
  bool has_ended();
  /// Waits until it has ended, at most this long; whether it has.
  bool wait(int timeout_ms);
  [[nodiscard]] int wait_status() const { return wait_status_; }
  /// CPU time of the command and those of its descendants that were waited for.
  [[nodiscard]] const rusage& usage() const { return usage_; }
  /// What else the kernel says of them.
  [[nodiscard]] const ResourceUse& use() const { return use_; }

 private:
  StartedCommand(std::string name, pid_t pid, Fd gate);
  static Result<StartedCommand> make(const std::vector<std::string>& command,
                                     const std::vector<std::string>* environment, bool is_held);
  Result<void> read_whether_it_runs();
  void wait();

  std::string name_;
  pid_t pid_;
  Fd pidfd_;
  Fd gate_;  // we write: go; the child writes errno, if exec fails
  bool is_let_go_ = false;
  bool has_ended_ = false;
  int wait_status_ = 0;
  rusage usage_{};
  ResourceUse use_;
};

}  // namespace culprit
