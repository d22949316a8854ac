#include "model/histogram_sums.h"

#include <algorithm>

#include "model/counts.h"
#include "model/merge.h"

namespace culprit {
namespace {

size_t count_cells(const Histogram& histogram) {
  return histogram.offsets.size() * histogram.columns.size();
}

/// Whether a list that may be left out is empty, or has a number for each row, not only zeros.
bool is_left_out_or_used(const auto& values, size_t size) {
  return values.empty() ||
         (values.size() == size &&
          std::any_of(values.begin(), values.end(), [](auto value) { return value != 0; }));
}

bool are_ascending(const Histogram& histogram) {
  const auto key = [&](size_t row) {
    return std::pair(histogram.offsets[row], object_of_row(histogram, row));
  };
  for (size_t row = 1; row < histogram.offsets.size(); ++row) {
    if (key(row - 1) >= key(row)) return false;
  }
  return true;
}

/// Whether it is as HistogramGrouper makes them: in order, and nothing is 0 everywhere.
bool is_canonical(const Histogram& histogram) {
  const size_t size = histogram.offsets.size();
  const auto has_object = [](ObjectId object) { return !object.is_all(); };
  if (size == 0 || !are_ascending(histogram)) return false;
  if (!histogram.objects.empty() &&
      (histogram.objects.size() != size ||
       std::none_of(histogram.objects.begin(), histogram.objects.end(), has_object))) {
    return false;
  }
  std::vector<char> has_any(size);
  for (size_t i = 0; i < histogram.columns.size(); ++i) {
    const EventColumn& column = histogram.columns[i];
    if (i > 0 && histogram.columns[i - 1].event >= column.event) return false;
    if (column.value.size() != size || !is_left_out_or_used(column.samples, size) ||
        !is_left_out_or_used(column.variance, size)) {
      return false;
    }
    bool is_used = false;
    for (size_t row = 0; row < size; ++row) {
      const bool has = column.value[row] != 0 || column.samples_at(row) != 0 ||
                       (!column.variance.empty() && column.variance[row] != 0);
      if (!has) continue;
      is_used = true;
      has_any[row] = 1;
    }
    if (!is_used) return false;
  }
  return std::find(has_any.begin(), has_any.end(), 0) == has_any.end();
}

}  // namespace

void HistogramSums::add_rows(const Histogram& histogram, const std::vector<Event>& events) {
  for_each_row({&histogram, 1}, [&](const HistogramRow& row) { rows_.add(row, events); });
}

void HistogramSums::add(Histogram histogram, const std::vector<Event>& events) {
  const Key key{histogram.context, histogram.image};
  const auto known = histograms_.find(key);
  if (known == histograms_.end() && is_canonical(histogram)) {
    in_histograms_ += count_cells(histogram);
    histograms_.emplace(key, std::move(histogram));
    return;
  }
  if (known != histograms_.end()) {
    in_histograms_ -= count_cells(known->second);
    add_rows(known->second, events);
    known->second = {};
  }
  add_rows(histogram, events);
}

std::vector<Histogram> HistogramSums::take(const std::vector<Event>& events) {
  std::vector<Histogram> all = group_histograms(rows_.take(events));
  for (Histogram& of_rows : all) {
    const auto known = histograms_.find({of_rows.context, of_rows.image});
    if (known == histograms_.end() || known->second.offsets.empty()) continue;
    of_rows = merge_histograms({std::move(of_rows), std::move(known->second)}, events).front();
    known->second = {};
  }
  for (auto& [key, histogram] : histograms_) {
    if (!histogram.offsets.empty()) all.push_back(std::move(histogram));
  }
  std::sort(all.begin(), all.end(), [](const Histogram& a, const Histogram& b) {
    return Key(a.context, a.image) < Key(b.context, b.image);
  });
  histograms_.clear();
  in_histograms_ = 0;
  return all;
}

}  // namespace culprit
