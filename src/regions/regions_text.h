#pragma once

// The report in its formats (print_regions() chooses).

#include "regions/regions_report.h"

namespace culprit {

/// The part of RegionTimes that a column shows.
struct TimeColumn {
  const char* heading;
  double RegionTimes::* time;
};
/// The columns of a kind of construct, beside execT and execC.
std::vector<TimeColumn> columns_of(Kind kind);
/// What `pieces` counts, for kinds that have them: "chunks", "sections"; nullptr: nothing.
const char* pieces_of(Kind kind);

/// "R00003".
std::string construct_number(size_t construct);
/// "main.c (20-23)"; of a function alone its name.
std::string describe_place(const RegionPlace& place);

std::string print_regions_text(const Profile& profile, const RegionsReport& report,
                               const RegionsPrint& options, const TextStyle& style);
std::string print_regions_json(const Profile& profile, const RegionsReport& report);
std::string print_regions_csv(const RegionsReport& report);

}  // namespace culprit
