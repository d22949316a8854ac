#pragma once

// Periods of sampled events that were chosen from what a counting run had counted: a sentence for
// whoever reads the profile.

#include <string>
#include <string_view>

#include "model/profile.h"

namespace culprit {

inline constexpr std::string_view kChosenPeriods = "record.periods";  // in Profile::environment

/// "page-faults every 11; from counts.culprit, for 1,000 samples of each"; nullptr: none was
/// chosen.
inline const std::string* find_chosen_periods(const Profile& profile) {
  const auto chosen = profile.environment.find(std::string(kChosenPeriods));
  return chosen == profile.environment.end() ? nullptr : &chosen->second;
}

}  // namespace culprit
