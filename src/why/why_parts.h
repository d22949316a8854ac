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

/// "Halted 1.26 G (24 % of 2 CPUs x 0.75 s)."
std::string describe_halted(const HaltedTime& halted, const Profile& profile);

/// "sum in matvec.c:9 (62 %)"; "" if no place is known.
std::string describe_place(const PlacedAdvice& advice);

/// "load latency, store saturation: why": the branches that lack cycles, or some of them, those
/// with the same reason together.
std::vector<std::string> describe_missing(const CostTree& tree);

/// The level-3 branch that costs most, if any costs much; nullptr if none does.
const CostNode* find_culprit(const CostTree& tree);

/// "measured", "partly_measured", ...: words of JSON and CSV.
const char* state_name(NodeState state);
const char* kind_name(NodeKind kind);

}  // namespace culprit
