#include "model/merge.h"

#include <algorithm>

#include "base/result.h"
#include "model/histogram_grouper.h"
#include "model/tables.h"

namespace culprit {

namespace {

/// What stands for the variance of `value` in this cell.
double variance_of(const Cell& cell, bool is_sampled) {
  if (cell.variance != 0 || !is_sampled || cell.samples == 0) return cell.variance;
  const double value = static_cast<double>(cell.value);
  return value * value / static_cast<double>(cell.samples);
}

}  // namespace

void add_cell(Cell& sum, const Cell& cell, const std::vector<Event>& events) {
  if (sum.variance != 0 || cell.variance != 0) {
    const bool is_sampled = sum.event.value < events.size() &&
                            events[sum.event.value].provenance == Provenance::sampled;
    sum.variance = variance_of(sum, is_sampled) + variance_of(cell, is_sampled);
  }
  add_saturating(sum.samples, cell.samples);
  add_saturating(sum.value, cell.value);
}

std::vector<HistogramRow> flatten_histograms(const std::vector<Histogram>& histograms) {
  size_t cells = 0;
  for (const Histogram& one : histograms) cells += one.offsets.size() * one.columns.size();
  std::vector<HistogramRow> rows;
  rows.reserve(cells);
  for_each_row(histograms, [&](const HistogramRow& row) { rows.push_back(row); });
  return rows;
}

std::vector<Histogram> group_histograms(const std::vector<HistogramRow>& rows) {
  HistogramGrouper grouper;
  for (const HistogramRow& row : rows) CHECK(grouper.add(row));
  return grouper.take();
}

std::vector<Histogram> make_histograms(std::vector<HistogramRow> rows,
                                       const std::vector<Event>& events) {
  merge_rows(rows, events);
  return group_histograms(rows);
}

std::vector<Histogram> merge_histograms(const std::vector<Histogram>& histograms,
                                        const std::vector<Event>& events) {
  return make_histograms(flatten_histograms(histograms), events);
}

void merge_counts(Profile& profile) {
  profile.histograms = merge_histograms(profile.histograms, profile.events);
  visit_flat_counts([&](std::string_view, auto& rows) { merge_rows(rows, profile.events); },
                    profile);
}

}  // namespace culprit
