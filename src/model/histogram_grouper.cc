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
  const Cell& cell = row.cell;
  column_of(cell.event)
      .cells.push_back({offsets_.size() - 1, cell.samples, cell.value, cell.variance});
  return true;
}

HistogramGrouper::OpenColumn& HistogramGrouper::column_of(EventId event) {
  // Rows of an offset are in the order of their events, as columns are.
  while (next_ < columns_.size() && columns_[next_].event < event) ++next_;
  if (next_ == columns_.size() || columns_[next_].event != event) {
    columns_.insert(columns_.begin() + static_cast<ptrdiff_t>(next_), {event});
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
  // What an event has not at an offset is 0.
  const auto values = [&]<class T>(const std::vector<OffsetCell>& cells, T OffsetCell::* field) {
    std::vector<T> all(offsets_.size());
    for (const OffsetCell& cell : cells) all[cell.row] = cell.*field;
    return all;
  };
  const auto has_any = [](const std::vector<OffsetCell>& cells, auto field) {
    return std::any_of(cells.begin(), cells.end(),
                       [&](const OffsetCell& cell) { return cell.*field != 0; });
  };
  const auto is_used = [](const OpenColumn& column) { return !column.cells.empty(); };
  histogram.columns.reserve(
      static_cast<size_t>(std::count_if(columns_.begin(), columns_.end(), is_used)));
  for (OpenColumn& open : columns_) {
    if (!is_used(open)) continue;
    EventColumn& column = histogram.columns.emplace_back();
    column.event = open.event;
    column.value = values(open.cells, &OffsetCell::value);
    if (has_any(open.cells, &OffsetCell::samples)) {
      column.samples = values(open.cells, &OffsetCell::samples);
    }
    if (has_any(open.cells, &OffsetCell::variance)) {
      column.variance = values(open.cells, &OffsetCell::variance);
    }
    open.cells.clear();
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
