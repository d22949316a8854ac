#pragma once

// The end of a recording whose counts are all still in memory, as a simulation's are.

#include <string>

#include "base/result.h"
#include "model/profile.h"
#include "store/profile_file.h"

namespace culprit {

/// Writes the profile, or of it what there is room for: without calls, branches and what became of
/// lines in caches, and of places the hottest ones. What was left out is in the ledger and in the
/// text that is given back; "": nothing was.
/// Errors: those of ProfileWriter::close(); not even a few places can be written.
Result<std::string> close_with_what_fits(ProfileWriter& writer, Profile& profile);

}  // namespace culprit
