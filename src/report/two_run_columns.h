#pragma once

// Columns of a profile of two runs (record --engine timer+simulate): measured cycles beside what
// was executed and missed, and cycles per instruction.

#include "report/report.h"

namespace culprit {

/// Nothing for other profiles.
void add_two_run_columns(const Profile& profile, ReportTable& table);

}  // namespace culprit
