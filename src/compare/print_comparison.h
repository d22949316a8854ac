#pragma once

// The answers of `culprit diff` and `culprit variance`, as text, JSON and CSV.

#include <string>
#include <vector>

#include "base/text_style.h"
#include "compare/difference.h"
#include "compare/variance.h"

namespace culprit {

struct PrintedComparison {
  const ComparedRows& rows;
  std::vector<RowLevel> by;
  size_t limit = 30;              // rows; 0: all
  bool runs_are_profiles = true;  // that can be named to other commands
};

std::string print_difference(const PrintedComparison& what, const Difference& difference,
                             Format format, const TextStyle& style);
/// `extremes`: compare_extremes(), with its causes.
std::string print_variance(const PrintedComparison& what, const RunVariance& variance,
                           const Difference& extremes, Format format, const TextStyle& style);

/// "+25 %", "-2.1 %".
std::string format_change(double change);

/// "+", "-", "~", "new", ...
const char* verdict_mark(ChangeVerdict verdict);

}  // namespace culprit
