#pragma once

// What the forms of `why` share.

#include <string>

#include "why/why.h"

namespace culprit {

std::string print_why_text(const Profile& profile, const Template& cpu, const WhyReport& why,
                           const TextStyle& style);
std::string print_why_json(const Profile& profile, const Template& cpu, const WhyReport& why);
std::string print_why_csv(const WhyReport& why);

/// "Intel Skylake-SP, Cascade Lake (skylake-sp), not validated on hardware".
std::string describe_template(const Template& cpu);

/// "total: all CPUs, 1.50 s", "halted: 24.0 % of all, 360 ms idle".
std::string describe_total(const HaltedTime& halted);
std::string describe_halted(const HaltedTime& halted);

/// "sum in matvec.c:9 (62 %)"; "" if no place is known.
std::string describe_place(const PlacedAdvice& advice);

/// Whether nothing in the tree has cycles: the profile has events, and none of what they cost.
bool has_no_cycles(const CostTree& tree);

/// "load latency, store saturation: why": the branches that lack cycles, or some of them, those
/// with the same reason together.
std::vector<std::string> describe_missing(const Profile& profile, const CostTree& tree);

/// Whether a branch can have cycles: threads collide only where there are some.
bool is_possible(const Profile& profile, const CostNode& branch);

/// Cycles of the tree.
double unhalted_of(const WhyReport& why);
/// Whether cycles were measured beside those of the tree.
bool has_measured(const WhyReport& why);
/// The cycles that shares are of: those measured, else those of the tree.
double whole_of(const WhyReport& why);
/// "12.3 %" of them.
std::string format_share(const WhyReport& why, double cycles);

/// "measured", "partly_measured", ...: words of JSON and CSV.
const char* state_name(NodeState state);
const char* kind_name(NodeKind kind);

}  // namespace culprit
