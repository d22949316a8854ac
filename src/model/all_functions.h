#pragma once

// Whether the facts of a profile name all functions of its files, not only those with counts
// (record --facts all).

#include "model/profile.h"

namespace culprit {

inline constexpr const char* kFactsKey = "snapshot.facts";

inline bool has_all_functions(const Profile& profile) {
  const auto facts = profile.environment.find(kFactsKey);
  return facts != profile.environment.end() && facts->second == "all";
}

inline void mark_all_functions(Profile& profile) {
  profile.environment[kFactsKey] = "all";
}

}  // namespace culprit
