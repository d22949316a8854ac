#include "model/merge.h"

#include <algorithm>
#include <tuple>

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

namespace {

/// The histogram of rows [first, last), which share context and image, in order.
Histogram make_histogram(const HistogramRow* first, const HistogramRow* last) {
  Histogram histogram{first->context, first->location.image, {}, {}, {}};
  std::vector<ObjectId> objects;
  for (const HistogramRow* row = first; row != last; ++row) {
    const FileOffset offset = row->location.offset;
    if (histogram.offsets.empty() || histogram.offsets.back() != offset ||
        objects.back() != row->object) {
      histogram.offsets.push_back(offset);
      objects.push_back(row->object);
    }
    const auto at =
        std::lower_bound(histogram.columns.begin(), histogram.columns.end(), row->cell.event,
                         [](const EventColumn& c, EventId event) { return c.event < event; });
    if (at == histogram.columns.end() || at->event != row->cell.event) {
      histogram.columns.insert(at, EventColumn{row->cell.event, {}, {}, {}});
    }
  }
  const size_t size = histogram.offsets.size();
  for (EventColumn& column : histogram.columns) {
    column.samples.resize(size);
    column.value.resize(size);
  }
  size_t at = 0;
  for (const HistogramRow* row = first; row != last; ++row) {
    if (histogram.offsets[at] != row->location.offset || objects[at] != row->object) ++at;
    const Cell& cell = row->cell;
    EventColumn& column =
        *std::lower_bound(histogram.columns.begin(), histogram.columns.end(), cell.event,
                          [](const EventColumn& c, EventId event) { return c.event < event; });
    column.samples[at] = cell.samples;
    column.value[at] = cell.value;
    if (cell.variance == 0) continue;
    column.variance.resize(size);
    column.variance[at] = cell.variance;
  }
  const bool has_objects =
      std::any_of(objects.begin(), objects.end(), [](ObjectId object) { return !object.is_all(); });
  if (has_objects) histogram.objects = std::move(objects);
  return histogram;
}

}  // namespace

std::vector<Histogram> group_histograms(const std::vector<HistogramRow>& rows) {
  std::vector<Histogram> histograms;
  const HistogramRow* const end = rows.data() + rows.size();
  for (const HistogramRow* first = rows.data(); first != end;) {
    const HistogramRow* last = first;
    while (last != end && last->context == first->context &&
           last->location.image == first->location.image) {
      ++last;
    }
    histograms.push_back(make_histogram(first, last));
    first = last;
  }
  return histograms;
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

void merge_rows(std::vector<MemorySample>& rows, const std::vector<Event>&) {
  std::sort(rows.begin(), rows.end(), [](const MemorySample& a, const MemorySample& b) {
    return std::tie(a.time_ns, a) < std::tie(b.time_ns, b);
  });
}

void merge_counts(Profile& profile) {
  profile.histograms = merge_histograms(profile.histograms, profile.events);
  visit_flat_counts([&](std::string_view, auto& rows) { merge_rows(rows, profile.events); },
                    profile);
}

}  // namespace culprit
