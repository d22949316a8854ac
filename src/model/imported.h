#pragma once

// Whether another tool made the recording: then advice must not name commands of ours that
// would have recorded it differently.

#include <string>
#include <string_view>

#include "model/profile.h"

namespace culprit {

inline constexpr std::string_view kImportedFrom = "imported from";  // in Profile::environment

inline bool is_imported(const Profile& profile) {
  return profile.environment.contains(std::string(kImportedFrom));
}

}  // namespace culprit
