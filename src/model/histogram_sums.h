#pragma once

// HistogramSums: counts by place, added up from rows and from whole histograms.
//
// Who has all counts of a context in an image at hand hands them over as a histogram: it stays as
// it is, a column for each event, as long as there is one of them. Only what meets another of the
// same context and image is taken apart into rows.

#include <map>
#include <utility>
#include <vector>

#include "model/sorted_sums.h"

namespace culprit {

class HistogramSums {
 public:
  /// `events`: as SortedSums has them, here and below.
  void add(const HistogramRow& row, const std::vector<Event>& events) { rows_.add(row, events); }
  /// In whatever order its rows and columns are.
  void add(Histogram histogram, const std::vector<Event>& events);

  /// How many counts are held, at least.
  [[nodiscard]] size_t entries() const { return rows_.entries() + in_histograms_; }

  /// All sums in canonical order (merge.h); nothing is left behind.
  std::vector<Histogram> take(const std::vector<Event>& events);

 private:
  using Key = std::pair<ContextId, ImageId>;

  void add_rows(const Histogram& histogram, const std::vector<Event>& events);

  SortedSums<HistogramRow> rows_;
  std::map<Key, Histogram> histograms_;  // one without offsets: it is in `rows_`
  size_t in_histograms_ = 0;             // counts
};

}  // namespace culprit
