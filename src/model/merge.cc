#include "model/merge.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <tuple>

namespace culprit {

namespace {

void add_to(uint64_t& sum, uint64_t amount) {
  sum = amount > std::numeric_limits<uint64_t>::max() - sum ? std::numeric_limits<uint64_t>::max()
                                                            : sum + amount;
}

/// What stands for the variance of `value` in this cell.
double variance_of(const Cell& cell, bool is_sampled) {
  if (cell.variance != 0 || !is_sampled || cell.samples == 0) return cell.variance;
  const double value = static_cast<double>(cell.value);
  return value * value / static_cast<double>(cell.samples);
}

void add_cell(Cell& sum, const Cell& cell, const std::vector<Event>& events) {
  if (sum.variance != 0 || cell.variance != 0) {
    const bool is_sampled = sum.event.value < events.size() &&
                            events[sum.event.value].provenance == Provenance::sampled;
    sum.variance = variance_of(sum, is_sampled) + variance_of(cell, is_sampled);
  }
  add_to(sum.samples, cell.samples);
  add_to(sum.value, cell.value);
}

bool is_zero(const Cell& cell) {
  return cell.samples == 0 && cell.value == 0 && cell.variance == 0;
}

/// Sorts rows by `key` and lets `add(sum, row)` unite those with equal keys. Where numbers
/// with fractions are added, equal keys are in the order of their rows: the sum does not
/// depend on who came first.
template <class Row, class Key, class Add>
void unite(std::vector<Row>& rows, const Key& key, const Add& add) {
  const auto less = [&](const Row& a, const Row& b) {
    if constexpr (requires { a.cell; }) {
      const auto order = key(a) <=> key(b);
      return order == 0 ? a < b : order < 0;
    } else {
      return key(a) < key(b);
    }
  };
  if (!std::is_sorted(rows.begin(), rows.end(), less)) std::sort(rows.begin(), rows.end(), less);
  size_t last = 0;
  for (size_t row = 1; row < rows.size(); ++row) {
    if (key(rows[last]) == key(rows[row])) {
      add(rows[last], rows[row]);
    } else if (++last != row) {
      rows[last] = rows[row];
    }
  }
  if (!rows.empty()) rows.resize(last + 1);
}

}  // namespace

std::vector<HistogramRow> flatten_histograms(const std::vector<Histogram>& histograms) {
  size_t cells = 0;
  for (const Histogram& one : histograms) cells += one.offsets.size() * one.columns.size();
  std::vector<HistogramRow> rows;
  rows.reserve(cells);
  for (const Histogram& histogram : histograms) {
    for (size_t i = 0; i < histogram.offsets.size(); ++i) {
      for (const EventColumn& column : histogram.columns) {
        const Cell cell{column.event, column.samples[i], column.value[i],
                        column.variance.empty() ? 0 : column.variance[i]};
        if (is_zero(cell)) continue;
        rows.push_back({histogram.context, {histogram.image, histogram.offsets[i]}, cell});
      }
    }
  }
  return rows;
}

namespace {

/// The histogram of rows [first, last), which share context and image, in order.
Histogram make_histogram(const HistogramRow* first, const HistogramRow* last) {
  Histogram histogram{first->context, first->location.image, {}, {}};
  for (const HistogramRow* row = first; row != last; ++row) {
    const FileOffset offset = row->location.offset;
    if (histogram.offsets.empty() || histogram.offsets.back() != offset) {
      histogram.offsets.push_back(offset);
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
    if (histogram.offsets[at] != row->location.offset) ++at;
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
  return histogram;
}

}  // namespace

std::vector<Histogram> make_histograms(std::vector<HistogramRow> rows,
                                       const std::vector<Event>& events) {
  merge_rows(rows, events);
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

std::vector<Histogram> merge_histograms(const std::vector<Histogram>& histograms,
                                        const std::vector<Event>& events) {
  return make_histograms(flatten_histograms(histograms), events);
}

void merge_rows(std::vector<HistogramRow>& rows, const std::vector<Event>& events) {
  std::erase_if(rows, [](const HistogramRow& row) { return is_zero(row.cell); });
  unite(
      rows, [](const HistogramRow& r) { return std::tie(r.context, r.location, r.cell.event); },
      [&](HistogramRow& sum, const HistogramRow& r) { add_cell(sum.cell, r.cell, events); });
}

void merge_rows(std::vector<StackCount>& rows, const std::vector<Event>& events) {
  std::erase_if(rows, [](const StackCount& row) { return is_zero(row.cell); });
  unite(
      rows, [](const StackCount& r) { return std::tie(r.context, r.stack, r.cell.event); },
      [&](StackCount& sum, const StackCount& r) { add_cell(sum.cell, r.cell, events); });
}

void merge_rows(std::vector<BranchCount>& rows) {
  unite(
      rows, [](const BranchCount& r) { return std::tie(r.context, r.from, r.to); },
      [](BranchCount& sum, const BranchCount& r) {
        add_to(sum.count, r.count);
        add_to(sum.mispredicted, r.mispredicted);
        add_to(sum.cycles, r.cycles);
        add_to(sum.judged, r.judged);
        add_to(sum.timed, r.timed);
      });
}

void merge_rows(std::vector<FallThrough>& rows) {
  unite(
      rows, [](const FallThrough& r) { return std::tie(r.context, r.image, r.from, r.to); },
      [](FallThrough& sum, const FallThrough& r) { add_to(sum.count, r.count); });
}

void merge_rows(std::vector<MemorySample>& rows) {
  // Samples are not added: each is one event.
  std::sort(rows.begin(), rows.end(), [](const MemorySample& a, const MemorySample& b) {
    return std::tie(a.time_ns, a) < std::tie(b.time_ns, b);
  });
}

void merge_rows(std::vector<Count>& rows) {
  unite(
      rows, [](const Count& r) { return std::tie(r.context, r.event, r.interval, r.repetition); },
      [](Count& sum, const Count& r) {
        add_to(sum.value, r.value);
        add_to(sum.time_enabled_ns, r.time_enabled_ns);
        add_to(sum.time_running_ns, r.time_running_ns);
      });
}

void merge_rows(std::vector<Access>& rows) {
  unite(
      rows,
      [](const Access& r) { return std::tie(r.context, r.location, r.object, r.level, r.kind); },
      [](Access& sum, const Access& r) {
        add_to(sum.count, r.count);
        add_to(sum.misses, r.misses);
        add_to(sum.bytes, r.bytes);
      });
}

void merge_rows(std::vector<Tenure>& rows) {
  unite(
      rows,
      [](const Tenure& r) { return std::tie(r.context, r.location, r.object, r.level, r.kind); },
      [](Tenure& sum, const Tenure& r) {
        add_to(sum.lines, r.lines);
        add_to(sum.bytes_touched, r.bytes_touched);
        add_to(sum.bytes_accessed, r.bytes_accessed);
        add_to(sum.touches, r.touches);
        add_to(sum.lines_at_end, r.lines_at_end);
      });
}

void merge_rows(std::vector<Edge>& rows) {
  unite(
      rows,
      [](const Edge& r) {
        return std::tie(r.from_context, r.to_context, r.from, r.to, r.object, r.level, r.kind);
      },
      [](Edge& sum, const Edge& r) { add_to(sum.count, r.count); });
}

void merge_rows(std::vector<RegionValue>& rows) {
  unite(
      rows, [](const RegionValue& r) { return std::tie(r.context, r.region, r.part, r.event); },
      [](RegionValue& sum, const RegionValue& r) {
        add_to(sum.executions, r.executions);
        add_to(sum.value, r.value);
      });
}

void merge_counts(Profile& profile) {
  profile.histograms = merge_histograms(profile.histograms, profile.events);
  merge_rows(profile.stack_counts, profile.events);
  merge_rows(profile.branch_counts);
  merge_rows(profile.fall_throughs);
  merge_rows(profile.memory_samples);
  merge_rows(profile.counts);
  merge_rows(profile.accesses);
  merge_rows(profile.tenures);
  merge_rows(profile.edges);
  merge_rows(profile.region_values);
}

}  // namespace culprit
