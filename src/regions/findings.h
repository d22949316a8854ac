#pragma once

// What waits for what, and what to change about it: ompP's properties with their severities, and
// those that it named and never computed.

#include "regions/regions_report.h"

namespace culprit {

/// Fills findings. Below a share of 0.5 % of the program nothing is said.
void add_findings(RegionsReport& report);

}  // namespace culprit
