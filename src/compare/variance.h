#pragma once

// RunVariance: which rows vary from run to run by more than sampling explains, as dcpistats has it.

#include <vector>

#include "compare/difference.h"

namespace culprit {

struct RowVariance {
  ComparedKey key;
  double range_percent = 0;  // (largest - smallest) / sum, in percent
  double sum = 0;
  double sum_percent = 0;  // of the whole
  double mean = 0;
  double deviation = 0;
  double smallest = 0;
  double largest = 0;
  double mean_samples = 0;
  /// Observed variance over that of sampling alone: above 2 it really varies. 0: exact counts.
  double excess = 0;
  /// How much of the whole's variance goes with this row: its covariance with the total, over the
  /// total's variance. They add up to 1. 0: the total does not vary.
  double explains = 0;
};

struct RunVariance {
  size_t runs = 0;
  std::vector<RowVariance> rows;  // the largest range first
  RowVariance total;
  size_t rows_left_out = 0;  // too few samples
  size_t fastest = 0;        // of the runs, by the total
  size_t slowest = 0;
};

/// Shape:  at least two runs; rows with a mean of fewer than `least_samples` are left out
/// Errors: deviation and excess of n runs are within a factor of sqrt(2 / (n - 1)) of the true
/// Source: papers/continuous-profiling-dcpi, section 3.3 (dcpistats)
RunVariance find_variance(const ComparedRows& rows, double least_samples);

/// Above it the observed variance is more than sampling alone makes.
inline constexpr double kReallyVaries = 2;
/// Whether it varies by more than sampling makes of it.
bool really_varies(const RowVariance& row);

/// The fastest run (base) beside the slowest, of the rows that really vary, those with the largest
/// change first, and of the total. What changed is called more or less: that it varies was found
/// from all runs. No rows, if all totals are alike.
Difference compare_extremes(const ComparedRows& rows, const RunVariance& variance);

}  // namespace culprit
