#pragma once

// Whether the simulated run was ended before its program was over, by a budget or by whoever
// watched it: then its costs are those of the program's beginning, and of nothing else.

#include <string>
#include <string_view>

#include "model/profile.h"

namespace culprit {

inline constexpr std::string_view kCutShort = "simulate.cut-short";  // in Profile::environment

/// What ended it: "a budget of 12.0 s"; nullptr: nothing did.
inline const std::string* find_cut(const Profile& profile) {
  const auto cut = profile.environment.find(std::string(kCutShort));
  return cut == profile.environment.end() ? nullptr : &cut->second;
}

}  // namespace culprit
