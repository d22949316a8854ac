#pragma once

// Repairs: the costs of a profile by what one change of the code does away with.
//
//     branch           label                        branch           place
//     load latency     L3          412 M            load latency     find_word   980 M
//     load latency     memory      405 M     =>     load latency     add_word     44 M
//     load latency     translation 207 M            misprediction    find_word    91 M
//     misprediction    ...          91 M
//
// Who lays out the data of find_word anew is rid of what L3, memory and translation cost there,
// together, and of nothing that other functions wait for.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "accounting/event_match.h"
#include "why/redirected_time.h"
#include "why/why.h"

namespace culprit {

/// What repairs are found in.
struct RepairInput {
  const Profile& profile;
  const FactsLookup& facts;
  const Template& cpu;
  const EventMatch& match;
  const CostOptions& cost;
  const RedirectedCycles& redirected;
};

/// What has a smaller part of the time is not worth a look.
inline constexpr double kWorthALook = 0.03;

/// Repairs worth a look: of the branch with most cycles at least one, then branch after branch as
/// their cycles are, the largest of each first.
/// Shape:  `why` has its tree and what was measured
std::vector<PlacedAdvice> find_repairs(const RepairInput& input, const WhyReport& why);

/// The branch of the tree to name first where gains were forecast: the one whose repairs save most
/// together, if that is a tenth of the time or the branch with most cycles saves nothing (it hides
/// behind what then takes its place); else the one with most cycles. none: nothing was forecast.
std::optional<BranchGain> find_branch_by_gain(const std::vector<PlacedAdvice>& repairs,
                                              const CostTree& tree);

/// Takes out repairs without which the model takes as long, but those of the branch that a verdict
/// has `named` (nullptr: none): their cycles hide behind what then takes their place.
void forget_what_saves_nothing(const CostNode* named, std::vector<PlacedAdvice>& repairs);

/// In the order of gains; where others save about as much as the verdict's largest, it is first.
/// `named`: the verdict's branch; nullptr: it has none
void sort_advice(const CostNode* named, std::vector<PlacedAdvice>& advice);

/// Counts of whole runs have no places: advice names their labels.
std::vector<PlacedAdvice> advise_on_counts(const CostTree& tree);

}  // namespace culprit
