#pragma once

// Filters of a report, tested on named rows.

#include <string>
#include <unordered_map>
#include <vector>

#include "report/report.h"
#include "report/row_names.h"

namespace culprit {

/// True where, at every level that has filters, one of them matches.
bool passes(const std::vector<Filter>& filters, const ReportRow& row);

/// Filters many rows: looks at each name only once.
class RowFilter {
 public:
  explicit RowFilter(const std::vector<Filter>& filters);

  bool passes(const RowNames& row);

 private:
  /// The filters of one level, and what they said of names seen before.
  struct Gate {
    RowLevel level;
    std::vector<Filter> filters;
    std::unordered_map<RowNames, bool, NamesHash, SameNames> verdicts;
  };
  std::vector<Gate> gates_;
};

/// Whether filters name lines: those that a report shows, the innermost, are meant then.
bool name_lines(const std::vector<Filter>& filters);

/// "function = sort*, module = libc.so.6", for people.
std::string describe_filters(const std::vector<Filter>& filters);

const char* level_name(RowLevel level);

/// A function name as people type it: in full, without parameters, the last part of a qualified
/// one, or without what tells a variant from others ("strlen" of "__strlen_evex").
bool matches_function(const std::string& name, const std::string& pattern);

}  // namespace culprit
