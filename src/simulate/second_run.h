#pragma once

// SecondRun: a command that ran natively runs once more, simulated, and both runs go into one
// profile, joined by location.
// Its standard streams are those of RerunStreams.

#include <functional>
#include <optional>
#include <sys/types.h>

#include "base/result.h"
#include "recording/recording.h"
#include "simulate/native_samples.h"
#include "simulate/simulate.h"

namespace culprit {

class SecondRun {
 public:
  /// Call it before the native run, so that what cannot be simulated does not run natively in vain.
  /// Errors: as check_simulated(); a program for another architecture than this machine's
  static Result<SecondRun> prepare(const SimulateOptions& options);

  /// Counts of the native run, as they come.
  void see(const Profile& part) { samples_.add(part); }

  /// Where the native run's standard input began, as RerunStreams takes it.
  [[nodiscard]] std::optional<off_t> input_start() const { return input_start_; }

  /// Simulates by `simulate`, whose standard streams are as said, and merges what comes of it into
  /// `native`, whose exit status stays unless the simulated run is interrupted. Errors: those of
  /// `simulate`; `native` stays as it was, but for a note in its ledger
  Result<void> run(Recording& native, const std::function<Result<Recording>()>& simulate);

 private:
  NativeSamples samples_;
  std::optional<off_t> input_start_;  // as RerunStreams takes it
};

}  // namespace culprit
