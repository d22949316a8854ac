#pragma once

// EpochCompleter: has finished epochs compacted and their symbols looked up by a child process, one
// at a time, which then thins out old epochs. Its memory goes with it, and a strange file cannot
// harm the daemon.

#include <string>
#include <vector>

#include "base/result.h"
#include "daemon/daemon.h"

namespace culprit {

class EpochCompleter {
 public:
  /// `folder`: the database's.
  EpochCompleter(const DaemonOptions& options, std::string folder)
      : options_(options), folder_(std::move(folder)) {}

  /// Waits for its turn. Errors: as reap()
  Result<void> add(ClosedEpoch epoch);
  /// Looks whether the child has ended; the next epoch's begins then.
  /// Errors: it failed, or the next one cannot be started: what it was to do is left undone
  Result<void> reap();
  /// Ends the child, and begins no other.
  void stop();
  /// After it: of all epochs that wait what cannot be found later, by one child that hurries.
  /// Errors: it cannot be started
  Result<void> hurry();
  [[nodiscard]] bool is_busy() const { return child_ != 0; }

 private:
  Result<void> begin_next();
  Result<void> begin(size_t epochs);
  [[noreturn]] void work(size_t epochs) const;
  void compact(const ClosedEpoch& epoch) const;

  const DaemonOptions& options_;
  std::string folder_;
  std::vector<ClosedEpoch> waiting_;  // the child's first
  int child_ = 0;                     // 0: none
  bool is_ending_ = false;
};

}  // namespace culprit
