#pragma once

// The values of a report's row as estimates that costs can be computed from.

#include <vector>

#include "model/profile.h"
#include "print/values.h"
#include "stats/estimate.h"

namespace culprit {

/// `values`: parallel to `profile.events`.
/// Units:  those of the events
/// Errors: as the values'; of a sampled event that was not seen at all a period, since one may
///         well have passed
std::vector<Estimate> to_estimates(const Profile& profile, const std::vector<Value>& values);

}  // namespace culprit
