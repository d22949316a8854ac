#pragma once

// Columns of a profile of two runs (record --engine timer+simulate): measured cycles beside what
// was executed and missed, and cycles per instruction.

#include <span>
#include <string_view>

#include "report/report.h"

namespace culprit {

/// What text shows first of simulated events, and under which heading; JSON and CSV have all.
struct ShortHeading {
  std::string_view event;
  const char* heading;
};
std::span<const ShortHeading> short_headings();

/// Other profiles get no columns.
void add_two_run_columns(const Profile& profile, ReportTable& table);

}  // namespace culprit
