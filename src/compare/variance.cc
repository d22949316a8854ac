#include "compare/variance.h"

#include <algorithm>
#include <cmath>

namespace culprit {
namespace {

constexpr double kLeastRuns = 2;

double sum_of(const ComparedRow& row) {
  double sum = 0;
  for (const Value& value : row.runs) sum += value.value;
  return sum;
}

/// Summed products of the distances from the means.
double products(const ComparedRow& a, const ComparedRow& b) {
  const double n = static_cast<double>(a.runs.size());
  const double mean_a = sum_of(a) / n;
  const double mean_b = sum_of(b) / n;
  double sum = 0;
  for (size_t run = 0; run < a.runs.size(); ++run) {
    sum += (a.runs[run].value - mean_a) * (b.runs[run].value - mean_b);
  }
  return sum;
}

RowVariance describe(const ComparedRow& row, const ComparedRow& total) {
  RowVariance out;
  out.key = row.key;
  const double n = static_cast<double>(row.runs.size());
  const auto [least, most] =
      std::minmax_element(row.runs.begin(), row.runs.end(),
                          [](const Value& a, const Value& b) { return a.value < b.value; });
  out.smallest = least->value;
  out.largest = most->value;
  out.sum = sum_of(row);
  out.mean = out.sum / n;
  out.mean_samples = row.mean_samples();
  if (out.sum > 0) out.range_percent = 100 * (out.largest - out.smallest) / out.sum;
  if (const double whole = sum_of(total); whole > 0) out.sum_percent = 100 * out.sum / whole;
  const double variance = products(row, row) / (n - 1);
  out.deviation = std::sqrt(variance);
  double sampling = 0;
  for (const Value& value : row.runs) sampling += value.error * value.error / n;
  if (sampling > 0) out.excess = variance / sampling;
  if (const double all = products(total, total); all > 0) {
    out.explains = products(row, total) / all;
  }
  return out;
}

RowChange compare_two(const ComparedRow& row, const RunVariance& variance) {
  const Value& fastest = row.runs[variance.fastest];
  const Value& slowest = row.runs[variance.slowest];
  RowChange change;
  change.key = row.key;
  change.base = fastest.value;
  change.now = slowest.value;
  change.base_samples = static_cast<double>(fastest.samples);
  change.now_samples = static_cast<double>(slowest.samples);
  if (change.base > 0) change.change = change.now / change.base - 1;
  change.verdict = change.now > change.base   ? ChangeVerdict::more
                   : change.now < change.base ? ChangeVerdict::less
                                              : ChangeVerdict::same;
  return change;
}

}  // namespace

bool really_varies(const RowVariance& row) {
  return row.excess > 0 ? row.excess > kReallyVaries : row.largest > row.smallest;
}

Difference compare_extremes(const ComparedRows& rows, const RunVariance& variance) {
  Difference out;
  out.base_runs = out.new_runs = 1;
  out.is_exact = rows.measure.provenance != Provenance::sampled;
  out.total = compare_two(rows.total, variance);
  out.total.key = variance.total.key;
  if (out.total.verdict == ChangeVerdict::same) return out;
  for (const RowVariance& row : variance.rows) {
    if (!really_varies(row)) continue;
    const auto found = std::find_if(rows.rows.begin(), rows.rows.end(),
                                    [&](const ComparedRow& one) { return one.key == row.key; });
    out.rows.push_back(compare_two(*found, variance));
  }
  std::ranges::stable_sort(out.rows, [](const RowChange& a, const RowChange& b) {
    return std::abs(a.now - a.base) > std::abs(b.now - b.base);
  });
  return out;
}

RunVariance find_variance(const ComparedRows& rows, double least_samples) {
  CHECK(static_cast<double>(rows.names.size()) >= kLeastRuns);
  RunVariance out;
  out.runs = rows.names.size();
  out.total = describe(rows.total, rows.total);
  out.total.key = {"total"};
  const auto by_value = [](const Value& a, const Value& b) { return a.value < b.value; };
  const auto [fastest, slowest] =
      std::minmax_element(rows.total.runs.begin(), rows.total.runs.end(), by_value);
  out.fastest = static_cast<size_t>(fastest - rows.total.runs.begin());
  out.slowest = static_cast<size_t>(slowest - rows.total.runs.begin());
  for (const ComparedRow& row : rows.rows) {
    if (rows.per_sample > 0 && row.mean_samples() < least_samples) {
      ++out.rows_left_out;
      continue;
    }
    RowVariance one = describe(row, rows.total);
    if (one.sum > 0) out.rows.push_back(std::move(one));
  }
  std::sort(out.rows.begin(), out.rows.end(), [](const RowVariance& a, const RowVariance& b) {
    return a.range_percent != b.range_percent ? a.range_percent > b.range_percent : a.key < b.key;
  });
  return out;
}

}  // namespace culprit
