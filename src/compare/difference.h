#pragma once

// Difference: which rows of two groups of runs changed.
//
//     ASSIGN_OR_RETURN(const ComparedRows rows, put_side_by_side(runs));
//     const Difference difference = find_difference(rows, base_runs, {});
//     if (difference.rows[0].verdict == Verdict...::more) ...
//
// Runs of one program differ mostly by a factor that all functions share: the machine was faster or
// slower. It is the median over rows of their logarithms, never the total, which one changed
// function would move. What is left is tested row by row. The factor itself is a row, "everything":
// a change that slows all functions alike shows there, and must not vanish.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compare/cause.h"
#include "compare/compared_rows.h"
#include "stats/group_difference.h"

namespace culprit {

enum class ChangeVerdict : uint8_t {
  more,        // takes more; by chance in at most 5 % of what is called so
  less,        // takes less
  same,        // no change that chance would not make
  not_tested,  // one run a side
  too_few,     // too few samples to say
  fresh,       // not in the base runs
  gone,        // not in the new runs
};

struct RowChange {
  ComparedKey key;
  double base = 0;  // means over the runs, in the measure
  double now = 0;
  double base_samples = 0;  // means
  double now_samples = 0;
  /// now / base - 1, beyond `everything` unless that is a change of its own; none: one is 0.
  std::optional<double> change;
  std::optional<Interval> interval95;  // of change
  double tail = 1;                     // adjusted: how likely chance alone makes it; 1: not tested
  ChangeVerdict verdict = ChangeVerdict::not_tested;
  std::optional<Cause> cause;  // of a change, once add_causes() was asked
  /// What its functions are called on each side ("parse.cold", "hash (inlined)"), by function.
  std::set<std::string> base_functions;
  std::set<std::string> now_functions;
};

struct Difference {
  size_t base_runs = 0;
  size_t new_runs = 0;
  std::vector<RowChange> rows;  // the largest |now - base| first
  RowChange total;
  std::optional<RowChange> everything;  // what rows share; none: too few rows to tell
  double spread = 0;                    // between runs, relative: measured, else assumed
  bool is_spread_assumed = false;
  bool is_exact = false;     // counted or modelled, not sampled: what differs, differs
  size_t rows_untested = 0;  // by too few samples
};

struct DifferenceOptions {
  double least_samples = 20;  // of a row, the mean of either group: fewer are not tested
  double spread = 0.05;       // between runs, where one run a side does not tell
};

/// The first `base_runs` of the runs are the base, the others the new ones; each has at least one.
/// Errors: with three runs a side and more, of the rows called more or less 5 % are chance at most
///         (Benjamini-Hochberg over Welch's or, with more than 20 rows, moderated t of logarithms)
/// Source: facts of DCPI-like profiles, repeated: run-to-run change is mostly common to all
///         functions; G. K. Smyth, Statistical Applications in Genetics and Molecular Biology 3
///         (2004), for the variance that is drawn towards what the other rows have
Difference find_difference(const ComparedRows& rows, size_t base_runs,
                           const DifferenceOptions& options);

/// Whether the lower end of the 95 % interval of a change is above the limit: of the total, of
/// everything, or of a row that changed and is at least a hundredth of the total.
/// Units:  limit: 0.05 is 5 %
bool is_above(const Difference& difference, double limit);

}  // namespace culprit
