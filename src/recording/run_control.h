#pragma once

// RunControl: how somebody outside asks something of a run while it is watched. A command line
// hands in a SignalGuard (signals.h), which turns Ctrl-C into such a request; a program that serves
// others hands in an EventControl, which any thread may ask.

#include <atomic>
#include <sys/types.h>

#include "base/file.h"

namespace culprit {

enum class StopRequest : uint8_t {
  none,
  with_command,  // the command was asked to end, too, and is waited for; without one: at once
  at_once,       // the command is not waited for
};

struct RunRequests {
  StopRequest stop = StopRequest::none;
  bool new_epoch = false;  // what was collected so far is complete, and the run goes on
};

class RunControl {
 public:
  virtual ~RunControl() = default;
  /// Readable from a request on until take() has told of it.
  [[nodiscard]] virtual int descriptor() const = 0;
  /// What is asked. A stop stays asked; a new epoch is told of once.
  virtual RunRequests take() = 0;
  /// The command of the run is about to start; 0: it is watched no longer.
  virtual void follow_command(pid_t) {}
};

/// What other threads ask.
class EventControl final : public RunControl {
 public:
  EventControl();

  void ask_to_stop();
  void ask_for_new_epoch();

  [[nodiscard]] int descriptor() const override { return event_.get(); }
  RunRequests take() override;

 private:
  void wake();

  Fd event_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> new_epoch_ = false;
};

}  // namespace culprit
