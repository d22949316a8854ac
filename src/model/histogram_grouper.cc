#include "model/histogram_grouper.h"

#include <algorithm>
#include <utility>

#include "model/rows.h"

namespace culprit {

bool HistogramGrouper::add(const HistogramRow& row) {
  if (last_ && compare_keys(*last_, row) >= 0) return false;
  const bool is_same =
      last_ && last_->context == row.context && last_->location.image == row.location.image;
  if (!is_same) begin(row);
  Histogram& histogram = histograms_.back();
  if (!is_same || last_->location != row.location || last_->object != row.object) {
    histogram.offsets.push_back(row.location.offset);
    objects_.push_back(row.object);
  }
  last_ = row;
  // What an event has not at an offset is 0.
  const size_t size = histogram.offsets.size();
  EventColumn& column = column_of(row.cell.event);
  column.samples.resize(size);
  column.value.resize(size);
  column.samples.back() = row.cell.samples;
  column.value.back() = row.cell.value;
  if (row.cell.variance != 0) {
    column.variance.resize(size);
    column.variance.back() = row.cell.variance;
  }
  return true;
}

EventColumn& HistogramGrouper::column_of(EventId event) {
  std::vector<EventColumn>& columns = histograms_.back().columns;
  const auto at =
      std::lower_bound(columns.begin(), columns.end(), event,
                       [](const EventColumn& column, EventId id) { return column.event < id; });
  if (at != columns.end() && at->event == event) return *at;
  return *columns.insert(at, EventColumn{event, {}, {}, {}});
}

void HistogramGrouper::begin(const HistogramRow& row) {
  end();
  histograms_.push_back({row.context, row.location.image, {}, {}, {}});
}

void HistogramGrouper::end() {
  if (histograms_.empty()) return;
  Histogram& histogram = histograms_.back();
  const size_t size = histogram.offsets.size();
  for (EventColumn& column : histogram.columns) {
    column.samples.resize(size);
    column.value.resize(size);
    if (!column.variance.empty()) column.variance.resize(size);
  }
  const bool has_objects = std::any_of(objects_.begin(), objects_.end(),
                                       [](ObjectId object) { return !object.is_all(); });
  if (has_objects) histogram.objects = std::move(objects_);
  objects_.clear();
}

std::vector<Histogram> HistogramGrouper::take() {
  end();
  last_.reset();
  return std::exchange(histograms_, {});
}

}  // namespace culprit
