#pragma once

// What experiments showed: how much less user time the command takes with one thing changed.
//
//     as it is     0.270 0.255 0.291 s         by pair: 41, 38, 46 % saved
//     on one CPU   0.158 0.158 0.157 s   =>    41 % (38 to 46 %), of threads that collide

#include <vector>

#include "model/experiment_events.h"
#include "templates/template.h"
#include "why/verdict.h"

namespace culprit {

struct TriedChange {
  const ExperimentKind* kind = nullptr;
  size_t pairs = 0;
  size_t runs_as_it_is = 0;  // that the samples as it is are of; other experiments may have more
  // Of the user time of a run: the median of the pairs, and their range [below 1; below 0: it takes
  // longer].
  GainForecast saved;

  /// Whether all pairs say that it saves what is worth a repair.
  [[nodiscard]] bool saves() const { return saved.low >= kLeastForecast; }
  /// Whether no pair says so.
  [[nodiscard]] bool saves_nothing() const { return saved.high < kLeastForecast; }
};

/// The experiments of a profile, those that saved most first.
/// Errors: the range of n pairs holds the median of many in 1 - 2^(1 - n) of cases, if nothing else
///         on the machine changes with them
std::vector<TriedChange> find_tried_changes(const Profile& profile);

/// The branch of the tree that the change does away with.
CostBranch branch_of(Experiment experiment);

/// What is said of a place that the change makes faster.
struct TriedAdvice {
  const char* label;
  const char* problem;
  const char* advice;
};
const TriedAdvice& advice_of(Experiment experiment);

/// "with all threads on one CPU it takes 41 % less user time (38 to 46 %, 5 pairs of runs)".
std::string describe_tried(const TriedChange& tried);

}  // namespace culprit
