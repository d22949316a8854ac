#pragma once

// Experiments: the command runs again, natively, with one thing changed, in turns with runs as it
// is. What the change saves is measured, where a model could only guess: how long threads wait for
// each other's cache lines, and what subnormal numbers cost.
//
//     const auto chosen = choose_experiments(recording.profile);
//     run_experiments(chosen, options, recording);      // events of experiment_events.h

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "collect/record.h"
#include "model/experiment_events.h"
#include "recording/recording.h"

namespace culprit {

struct ExperimentOptions {
  RecordOptions sampling;            // of the command as it ran first
  std::optional<off_t> input_start;  // as RerunStreams takes it
  std::string (*find_library)(std::string_view) =
      nullptr;          // "one-cpu": what is preloaded; "": none
  int64_t most_ns = 0;  // that all runs together may take
  /// Called before each round of runs, with how many there are at most.
  std::function<void(size_t round, size_t rounds)> show;
};

/// Those that may tell something of what ran, natively and simulated, as `both`: threads that ran
/// at once and took each other's lines; code that works on floating-point values.
std::vector<const ExperimentKind*> choose_experiments(const Profile& both);

/// Runs them and adds their events to `both`. What was not run, and why, is in its ledger: a
/// recording is none the worse for it.
void run_experiments(const std::vector<const ExperimentKind*>& experiments,
                     const ExperimentOptions& options, Recording& both);

}  // namespace culprit
