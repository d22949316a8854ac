#pragma once

// Accesses of which it is estimated which data objects they are of (a sample of sets with
// `--objects`): how many each instruction has made is exact all the same, so answers that do not
// tell objects apart have no errors of theirs.

#include <optional>

#include "model/profile.h"

namespace culprit {

/// The profile with such events as counted ones, without errors; none: it has no such event.
std::optional<Profile> with_exact_accesses(const Profile& profile);

}  // namespace culprit
