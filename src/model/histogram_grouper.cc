#include "model/histogram_grouper.h"

#include <algorithm>
#include <utility>

#include "model/rows.h"

namespace culprit {

bool HistogramGrouper::add(const HistogramRow& row) {
  if (last_ && compare_keys(*last_, row) >= 0) return false;
  const bool is_same =
      last_ && last_->context == row.context && last_->location.image == row.location.image;
  if (!is_same) {
    end();
    context_ = row.context;
    image_ = row.location.image;
  }
  if (!is_same || last_->location != row.location || last_->object != row.object) {
    offsets_.push_back(row.location.offset);
    objects_.push_back(row.object);
    next_ = 0;
  }
  last_ = row;
  // What an event has not at an offset is 0.
  const size_t size = offsets_.size();
  EventColumn& column = column_of(row.cell.event);
  column.value.resize(size);
  column.value.back() = row.cell.value;
  if (row.cell.samples != 0) {
    column.samples.resize(size);
    column.samples.back() = row.cell.samples;
  }
  if (row.cell.variance != 0) {
    column.variance.resize(size);
    column.variance.back() = row.cell.variance;
  }
  return true;
}

EventColumn& HistogramGrouper::column_of(EventId event) {
  // Rows of an offset are in the order of their events, as columns are.
  while (next_ < columns_.size() && columns_[next_].event < event) ++next_;
  if (next_ == columns_.size() || columns_[next_].event != event) {
    columns_.insert(columns_.begin() + static_cast<ptrdiff_t>(next_), {event, {}, {}, {}});
  }
  return columns_[next_];
}

void HistogramGrouper::end() {
  if (offsets_.empty()) return;
  Histogram& histogram = histograms_.emplace_back();
  histogram.context = context_;
  histogram.image = image_;
  histogram.offsets = offsets_;
  const bool has_objects = std::any_of(objects_.begin(), objects_.end(),
                                       [](ObjectId object) { return !object.is_all(); });
  if (has_objects) histogram.objects = objects_;
  const size_t size = offsets_.size();
  const auto is_used = [](const EventColumn& column) { return !column.value.empty(); };
  histogram.columns.reserve(
      static_cast<size_t>(std::count_if(columns_.begin(), columns_.end(), is_used)));
  for (EventColumn& column : columns_) {
    if (!is_used(column)) continue;
    column.value.resize(size);
    if (!column.samples.empty()) column.samples.resize(size);
    if (!column.variance.empty()) column.variance.resize(size);
    histogram.columns.push_back(column);
    column.samples.clear();
    column.value.clear();
    column.variance.clear();
  }
  offsets_.clear();
  objects_.clear();
}

std::vector<Histogram> HistogramGrouper::take() {
  end();
  last_.reset();
  return std::exchange(histograms_, {});
}

}  // namespace culprit
