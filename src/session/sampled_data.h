#pragma once

// Data objects of sampled accesses (record --data, perf mem record) are told by reports: nothing is
// known of the lines of caches. Here is which report says it.

#include <optional>

#include "locality/data.h"
#include "session/questions.h"

namespace culprit {

/// The report that says what a profile knows of its data objects, hottest first: by latency where
/// that was recorded, else by samples; of one object by the lines that accessed it. nullopt: the
/// accesses were not sampled, or of no objects.
std::optional<ReportQuestion> find_sampled_data(const Profile& profile,
                                                const DataOptions& question);

}  // namespace culprit
