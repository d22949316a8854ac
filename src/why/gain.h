#pragma once

// The gain of a repair: by the model's second run without a cost, put right by the time measured.
//
// What a place takes beyond (or below) its modelled time is shared out among the classes of cost
// by how wrong each usually is, and how much there is of it: latency of far caches may be twice as
// long on the day, an addition takes the cycles that it takes.
//
//     modelled  200 = 120 load latency + 80 chains      measured 320: 120 are missing
//     spread          120 x 1.0         80 x 0.3        shares of 120: 0.96 and 0.04
//     without load latency the model takes 110: saves 90; expected 90 + 115 of 320
//
// Source: linear least squares of the classes' costs with independent prior errors, given their
//         sum (the Kalman update of one measurement).

#include <optional>
#include <vector>

#include "accounting/cost_tree.h"
#include "why/why.h"

namespace culprit {

/// One place, in cycles.
struct PlaceTime {
  double modelled = 0;
  std::optional<Estimate> measured;
  double whole = 0;  // of the profile: what gains are shares of
  // What it takes more where far caches and memory are slower than the model says: at least so
  // wrong may the model be, however little its own costs of them are.
  double slow_latency = 0;
  double slow_bandwidth = 0;
  // Of other places whose samples mix with this one's, and are among `measured` [cycles^2].
  double others_variance = 0;
};

/// How wrong the model is taken to be about a place, or about a branch there: one standard
/// deviation, by the priors of forecast_gain(). Units:  cycles -> cycles
double find_deviation(const CostTree& tree, const PlaceTime& time);
double find_deviation(const CostTree& tree, CostBranch branch, const PlaceTime& time);

/// The time of inlined code. An instruction that waits has its samples behind it, in whose code
/// that ever is, so code that is little more than such an instruction has too few. But the model
/// has no more than `excess` too much in whole functions, and so (where parts of one do not make up
/// for each other) in what is inlined into them. Units:  cycles -> cycles
double allow_for_skid(double measured, double modelled, double excess);

/// What removing a branch at a place would gain. `replay_gain` is what the second run saves of the
/// first [0 to 1].
/// Units:  cycles -> shares of `time.whole` [0 to 1]
/// Shape:  `tree` is of the place, by the simulated core's template
/// Errors: low and high are meant to hold 90 %. The priors are judgement, and no run has shown yet
///         how often they do (bench/simulated_decisions.py prints promised and measured gains)
GainForecast forecast_gain(const CostTree& tree, CostBranch branch, double replay_gain,
                           const PlaceTime& time);

}  // namespace culprit
