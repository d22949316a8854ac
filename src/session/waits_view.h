#pragma once

// The time off the CPU of a profile, by itself: what a report of waits is made of.

#include "base/result.h"
#include "model/profile.h"

namespace culprit {

/// A profile whose events are "off-cpu" and "preempted", in this order, with their counts alone;
/// the rest of its tables is as it was.
/// Errors: they were not recorded
Result<Profile> with_waits_only(const Profile& profile);

}  // namespace culprit
