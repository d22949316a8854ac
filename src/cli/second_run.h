#pragma once

// The second half of `culprit record --engine timer+simulate`: the command once more, simulated,
// and both runs in one profile, joined by location.
//
// Its output has been seen already: its standard output goes to /dev/null. Its standard input is
// that of the native run from where it began, if it can be rewound; else there is nothing in it.

#include <optional>
#include <string>
#include <sys/types.h>

#include "base/result.h"
#include "cli/options/command_line.h"
#include "simulate/native_samples.h"

namespace culprit {

class SecondRun {
 public:
  /// Before the native run, so that what cannot be simulated does not run natively in vain.
  /// Errors: as run_simulation(); a program for another architecture than this machine's
  static Result<SecondRun> prepare(const RecordCommand& command);

  /// Counts of the native run, as they come.
  void see(const Profile& part) { samples_.add(part); }

  /// Simulates, and merges what comes of it into `native`, whose exit status stays
  /// unless the simulated run is interrupted. An interrupted native run is not simulated: the
  /// ledger says so. `amount` gets what was counted. Errors: as run_simulation(); `native` stays as
  /// it was, but for a note in its ledger
  Result<void> run(const RecordCommand& wanted, Recording& native, RunControl& control,
                   std::string* amount);

 private:
  NativeSamples samples_;
  std::optional<off_t> input_start_;  // none: it cannot be rewound
};

}  // namespace culprit
