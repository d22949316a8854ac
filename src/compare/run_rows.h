#pragma once

// RunRows: what one run spent in each row of a report, in one unit, under names that the rows of
// other builds have, too.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "report/report.h"

namespace culprit {

/// What is compared: sampled time as core cycles where the clock was measured, else an event.
struct Measure {
  std::string event;  // its name
  std::string unit;   // "cycles", "ns", "events", "bytes"
  Provenance provenance = Provenance::counted;
  friend bool operator==(const Measure&, const Measure&) = default;
};

/// A row's names by level, as people know them: "a.out", "parse", "parse.c", "12". Without paths,
/// suffixes of clones and marks of inlined copies, which differ from build to build.
using ComparedKey = std::vector<std::string>;

/// The names of a table's rows, parallel to them; some may have the same.
std::vector<ComparedKey> compared_keys(const Profile& profile, const ReportTable& table);

struct RunRows {
  std::string name;  // of the profile, for people
  Measure measure;
  double per_sample = 0;                            // units of the measure; 0: it was not sampled
  std::vector<std::pair<ComparedKey, Value>> rows;  // each key once, ascending
  Value total;
  /// What the functions of a row are called here ("parse.cold", "hash (inlined)"), by function.
  std::map<ComparedKey, std::set<std::string>> functions = {};
};

/// The values are independent.
void add_value(Value& sum, const Value& value);

struct RunOptions {
  std::string event;           // ""; the first of the table
  bool time_as_cycles = true;  // where the clock was measured
};

/// The rows of a whole table (no limit, no tree) by one of its events.
/// Errors: no such event; a profile of counts alone
Result<RunRows> make_run_rows(const Profile& profile, const ReportTable& table,
                              const std::string& name, const RunOptions& options);

/// "parse.constprop.0" -> "parse": what compilers append to copies of a function.
std::string_view without_clone_suffix(std::string_view function);

/// Whether rows of this level of a report can be matched over builds.
bool can_be_compared(RowLevel level);

}  // namespace culprit
