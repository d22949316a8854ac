#pragma once

// Call stacks that were sampled beside the counts of a run, by another and slower clock. Until they
// are joined to the counts (session/joined_stacks.h) each stands for its own clock's period, and
// they may hold more of a place than its counts do.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/number.h"
#include "model/profile.h"

namespace culprit {

/// The label of a run that has such stacks: how many samples had one.
inline constexpr std::string_view kStacksBeside = "stacks sampled";

/// How many there are; nothing: the profile's stacks are those of its counts.
inline std::optional<uint64_t> count_stacks_beside(const Profile& profile) {
  std::optional<uint64_t> samples;
  for (const Run& run : profile.runs) {
    for (const auto& [name, value] : run.labels) {
      if (profile.strings.text(name) != kStacksBeside) continue;
      samples = samples.value_or(0) + find_number(profile.strings.text(value), 10).value_or(0);
    }
  }
  return samples;
}

}  // namespace culprit
