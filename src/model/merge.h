#pragma once

// Merging: counts of one key become one count. For whole profiles see profile_merger.h.
//
// Canonical order is what the comments in profile.h promise: every count once, by its
// key; memory samples in time order; no cell whose samples, value and variance are all
// zero. Two profiles with the same counts, however they were collected piece by piece,
// have the same canonical form.
//
// Sums saturate at the largest uint64_t instead of wrapping.

#include <algorithm>
#include <compare>
#include <span>
#include <vector>

#include "model/rows.h"

namespace culprit {

/// Calls visit(HistogramRow) for each non-zero cell, in canonical order if the histograms are.
void for_each_row(std::span<const Histogram> histograms, const auto& visit) {
  for (const Histogram& histogram : histograms) {
    for (size_t i = 0; i < histogram.offsets.size(); ++i) {
      for (const EventColumn& column : histogram.columns) {
        const HistogramRow row{histogram.context,
                               {histogram.image, histogram.offsets[i]},
                               {column.event, column.samples_at(i), column.value[i],
                                column.variance.empty() ? 0 : column.variance[i]},
                               histogram.objects.empty() ? ObjectId() : histogram.objects[i]};
        if (!is_empty_cell(row)) visit(row);
      }
    }
  }
}

/// All rows as a table.
std::vector<HistogramRow> flatten_histograms(const std::vector<Histogram>& histograms);

/// Histograms of rows that are in canonical order.
std::vector<Histogram> group_histograms(const std::vector<HistogramRow>& rows);

/// Histograms in canonical order; rows of one key are added (add_cell in rows.h).
std::vector<Histogram> make_histograms(std::vector<HistogramRow> rows,
                                       const std::vector<Event>& events);

/// Several histograms, also of the same (context, image), to one for each pair.
std::vector<Histogram> merge_histograms(const std::vector<Histogram>& histograms,
                                        const std::vector<Event>& events);

/// Whether the rows are in canonical order, as those of files mostly are.
template <class Row>
bool are_merged(const std::vector<Row>& rows) {
  for (size_t row = 0; row < rows.size(); ++row) {
    if (is_empty_cell(rows[row])) return false;
    if (row > 0 && compare_keys(rows[row - 1], rows[row]) >= 0) return false;
  }
  return true;
}

/// Rows of any kind of count in canonical order: rows of one key are added.
template <class Row>
void merge_rows(std::vector<Row>& rows, const std::vector<Event>& events) {
  if (are_merged(rows)) return;
  std::erase_if(rows, is_empty_cell<Row>);
  const auto less = [](const Row& a, const Row& b) {
    if constexpr (requires { a.cell; }) {
      // Where numbers with fractions are added, equal keys are in the order of their numbers:
      // the sum does not depend on which row came first.
      const std::strong_ordering order = compare_keys(a, b);
      return order == 0 ? a < b : order < 0;
    } else {
      return compare_keys(a, b) < 0;
    }
  };
  if (!std::is_sorted(rows.begin(), rows.end(), less)) std::sort(rows.begin(), rows.end(), less);
  size_t last = 0;
  for (size_t row = 1; row < rows.size(); ++row) {
    if (has_same_key(rows[last], rows[row])) {
      add_row(rows[last], rows[row], events);
    } else if (++last != row) {
      rows[last] = rows[row];
    }
  }
  if (!rows.empty()) rows.resize(last + 1);
}

/// Brings all counts of a profile into canonical order.
void merge_counts(Profile& profile);

}  // namespace culprit
