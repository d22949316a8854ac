#pragma once

// Rows of a profile's regions → constructs with their places and times, and the call graph.

#include "regions/regions_report.h"

namespace culprit {

/// Fills threads, constructs and call_paths.
void find_constructs(const Profile& profile, CodeIndex& code, RegionsReport& report);

}  // namespace culprit
