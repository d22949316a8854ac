#include "model/hottest.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "model/tables.h"

namespace culprit {
namespace {

/// Of the first event, at each place of the histogram.
std::vector<uint64_t> first_values(const Histogram& histogram) {
  for (const EventColumn& column : histogram.columns) {
    if (column.event == EventId(0u)) return column.value;
  }
  return std::vector<uint64_t>(histogram.offsets.size());
}

/// Keeps the elements whose number is marked.
template <class T>
void keep_marked(std::vector<T>& values, const std::vector<bool>& marked) {
  if (values.empty()) return;  // a column that is constant
  size_t kept = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (marked[i]) values[kept++] = values[i];
  }
  values.resize(kept);
}

void keep_marked(Histogram& histogram, const std::vector<bool>& marked) {
  keep_marked(histogram.offsets, marked);
  keep_marked(histogram.objects, marked);
  for (EventColumn& column : histogram.columns) {
    keep_marked(column.samples, marked);
    keep_marked(column.value, marked);
    keep_marked(column.variance, marked);
  }
}

void leave_out_flat_counts(Profile& profile) {
  std::vector<Count> counts = std::move(profile.counts);
  visit_flat_counts([](std::string_view, auto& rows) { rows.clear(); }, profile);
  profile.counts = std::move(counts);
}

}  // namespace

uint64_t count_places(const Profile& profile) {
  uint64_t places = 0;
  for (const Histogram& histogram : profile.histograms) places += histogram.offsets.size();
  return places;
}

HottestPlaces keep_hottest(Profile& profile, uint64_t most) {
  leave_out_flat_counts(profile);
  std::vector<uint64_t> values;
  for (const Histogram& histogram : profile.histograms) {
    const std::vector<uint64_t> own = first_values(histogram);
    values.insert(values.end(), own.begin(), own.end());
  }
  HottestPlaces result;
  if (values.size() <= most) {
    result.kept = values.size();
    return result;
  }
  std::vector<uint64_t> sorted = values;
  const auto end_of_kept = sorted.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(sorted.begin(), end_of_kept, sorted.end(), std::greater<>());
  const uint64_t least = *end_of_kept;  // places that have as much may be kept or not
  uint64_t above = 0;
  for (const uint64_t value : values) above += value > least ? 1 : 0;
  uint64_t of_least = most - above;
  double sum = 0;
  double kept_sum = 0;
  size_t number = 0;
  for (Histogram& histogram : profile.histograms) {
    std::vector<bool> marked(histogram.offsets.size());
    for (size_t i = 0; i < marked.size(); ++i) {
      const uint64_t value = values[number++];
      marked[i] = value > least || (value == least && of_least > 0);
      if (value == least && marked[i]) --of_least;
      sum += static_cast<double>(value);
      if (!marked[i]) continue;
      kept_sum += static_cast<double>(value);
      ++result.kept;
    }
    keep_marked(histogram, marked);
  }
  std::erase_if(profile.histograms,
                [](const Histogram& histogram) { return histogram.offsets.empty(); });
  result.left_out = values.size() - result.kept;
  result.share = sum > 0 ? kept_sum / sum : 0;
  return result;
}

}  // namespace culprit
