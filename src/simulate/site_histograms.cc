#include "simulate/site_histograms.h"

#include <algorithm>
#include <utility>

#include "model/rows.h"

namespace culprit {
namespace {

using Placed = std::pair<Location, uint32_t>;  // a site

template <class T>
bool are_zero(const std::vector<T>& values) {
  return std::all_of(values.begin(), values.end(), [](T value) { return value == 0; });
}

/// Of sites in one image, by location.
Histogram make_histogram(const std::vector<SimulatedEvent>& events, std::span<const Placed> placed,
                         const std::function<SimulatedSite(uint32_t)>& site_of,
                         const VarianceOf& variance_of) {
  Histogram histogram;
  histogram.image = placed.front().first.image;
  for (size_t event = 0; event < events.size(); ++event) {
    histogram.columns.push_back({EventId(event), {}, {}, {}});
    histogram.columns.back().value.reserve(placed.size());
    if (variance_of) histogram.columns.back().variance.reserve(placed.size());
  }
  std::vector<uint64_t> row(events.size());
  std::vector<double> variances(events.size());
  for (size_t next = 0; next < placed.size();) {
    const Location at = placed[next].first;
    std::fill(row.begin(), row.end(), 0);
    std::fill(variances.begin(), variances.end(), 0);
    for (; next < placed.size() && placed[next].first == at; ++next) {
      const uint32_t number = placed[next].second;
      const SimulatedSite site = site_of(number);
      for (size_t event = 0; event < events.size(); ++event) {
        if (events[event].is_estimate) continue;
        const uint64_t value = events[event].value(site);
        add_saturating(row[event], value);
        if (variance_of && value != 0) variances[event] += variance_of(number, event);
      }
    }
    if (are_zero(row)) continue;
    histogram.offsets.push_back(at.offset);
    for (size_t event = 0; event < events.size(); ++event) {
      histogram.columns[event].value.push_back(row[event]);
      if (variance_of) histogram.columns[event].variance.push_back(variances[event]);
    }
  }
  std::erase_if(histogram.columns, [](const EventColumn& one) { return are_zero(one.value); });
  for (EventColumn& one : histogram.columns) {
    if (are_zero(one.variance)) one.variance = {};
  }
  return histogram;
}

}  // namespace

std::vector<Histogram> make_site_histograms(const std::vector<SimulatedEvent>& events,
                                            ContextId context, std::span<const uint32_t> sites,
                                            const std::function<SimulatedSite(uint32_t)>& site_of,
                                            const std::function<Location(uint32_t)>& locate,
                                            const VarianceOf& variance_of) {
  std::vector<Placed> placed;
  placed.reserve(sites.size());
  for (const uint32_t site : sites) placed.emplace_back(locate(site), site);
  std::sort(placed.begin(), placed.end());
  std::vector<Histogram> histograms;
  for (auto next = placed.begin(); next != placed.end();) {
    const ImageId image = next->first.image;
    const auto end = std::find_if(next, placed.end(),
                                  [&](const Placed& one) { return one.first.image != image; });
    Histogram histogram = make_histogram(events, {next, end}, site_of, variance_of);
    histogram.context = context;
    if (!histogram.offsets.empty()) histograms.push_back(std::move(histogram));
    next = end;
  }
  return histograms;
}

}  // namespace culprit
