#pragma once

// EpochCompleter: has finished epochs compacted and their symbols looked up by a child process, one
// at a time, which then thins out old epochs. Its memory goes with it, and a strange file cannot
// harm the daemon.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "daemon/daemon.h"
#include "epochs/thin_out.h"

namespace culprit {

class EpochCompleter {
 public:
  /// `folder`: the database's. `most_ns`: a child that takes longer hangs, and is ended.
  EpochCompleter(const DaemonOptions& options, std::string folder, uint64_t most_ns = kMostNs);
  EpochCompleter(const EpochCompleter&) = delete;
  EpochCompleter& operator=(const EpochCompleter&) = delete;
  ~EpochCompleter();

  /// Waits for its turn. Errors: as reap()
  Result<void> add(ClosedEpoch epoch);
  /// Looks whether the child has ended; the next epoch's begins then.
  /// Errors: it failed or took too long, or the next one cannot be started: what it was to do is
  /// left undone, for whoever asks
  Result<void> reap();
  /// Ends the child, and begins no other. Returns within a second, whatever the child waits for.
  void stop();
  /// After it: of all epochs that wait what cannot be found later, by one child that hurries.
  /// Errors: it cannot be started
  Result<void> hurry();
  /// By all its children.
  [[nodiscard]] RemovedForSpace removed() const {
    return removed_ == nullptr ? RemovedForSpace() : *removed_;
  }
  [[nodiscard]] bool is_busy() const { return child_ != 0; }

 private:
  // A file of a server that does not answer takes for ever; a busy machine may take minutes.
  static constexpr uint64_t kMostNs = 30 * 60'000'000'000;

  Result<void> begin_next();
  Result<void> begin(size_t epochs);
  [[noreturn]] void work(size_t epochs) const;
  void compact(const ClosedEpoch& epoch) const;
  void note_removed(const RemovedForSpace& removed) const;

  const DaemonOptions& options_;
  std::string folder_;
  std::vector<ClosedEpoch> waiting_;    // the child's first
  RemovedForSpace* removed_ = nullptr;  // memory that children share; null: there was none
  int child_ = 0;                       // 0: none
  uint64_t most_ns_;
  uint64_t began_ns_ = 0;  // the child
  bool is_ending_ = false;
};

}  // namespace culprit
