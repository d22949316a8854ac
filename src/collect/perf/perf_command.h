#pragma once

// The command of a recording: forked first, so that events can be opened on it,
// and let go when they count.
//
//   start()     the child waits             its signals, limits, terminal and
//   ...         events are opened           environment are those of our caller
//   let_go()    the child execs; an error if it cannot

#include <optional>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace culprit {

class PerfCommand {
 public:
  /// Forks. The child ends by itself if we do before letting it go.
  static Result<PerfCommand> start(const std::vector<std::string>& command);
  PerfCommand(PerfCommand&&) = default;
  PerfCommand& operator=(PerfCommand&&) = default;
  /// A child that was not let go is ended.
  ~PerfCommand();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Readable when the command has ended; -1 if this kernel has no such descriptors.
  [[nodiscard]] int end_descriptor() const { return pidfd_.get(); }

  /// Runs the program after `spin_ns` of CPU time, which makes the phase of samples random
  /// where the clock of an event runs only with its task.
  Result<void> let_go(uint64_t spin_ns);

  /// Whether it has ended; does not wait.
  bool has_ended();
  void wait();
  [[nodiscard]] int wait_status() const { return wait_status_; }
  /// CPU time of the command and those of its descendants that were waited for.
  [[nodiscard]] const rusage& usage() const { return usage_; }

 private:
  PerfCommand(std::string name, pid_t pid, Fd gate, Fd report);

  std::string name_;
  pid_t pid_;
  Fd pidfd_;
  Fd gate_;    // we write: go
  Fd report_;  // the child writes errno, if exec fails
  bool is_let_go_ = false;
  bool has_ended_ = false;
  int wait_status_ = 0;
  rusage usage_{};
};

}  // namespace culprit
