#include "simulate/site_histograms.h"

#include <algorithm>
#include <utility>

#include "model/rows.h"

namespace culprit {
namespace {

using Placed = std::pair<Location, uint32_t>;  // a site

bool are_zero(const std::vector<uint64_t>& values) {
  return std::all_of(values.begin(), values.end(), [](uint64_t value) { return value == 0; });
}

/// Of sites in one image, by location.
Histogram make_histogram(const std::vector<SimulatedEvent>& events, std::span<const Placed> placed,
                         const std::function<SimulatedSite(uint32_t)>& site_of) {
  Histogram histogram;
  histogram.image = placed.front().first.image;
  for (size_t event = 0; event < events.size(); ++event) {
    histogram.columns.push_back({EventId(event), {}, {}, {}});
    histogram.columns.back().value.reserve(placed.size());
  }
  std::vector<uint64_t> row(events.size());
  for (size_t next = 0; next < placed.size();) {
    const Location at = placed[next].first;
    std::fill(row.begin(), row.end(), 0);
    for (; next < placed.size() && placed[next].first == at; ++next) {
      const SimulatedSite site = site_of(placed[next].second);
      for (size_t event = 0; event < events.size(); ++event) {
        if (!events[event].is_estimate) add_saturating(row[event], events[event].value(site));
      }
    }
    if (are_zero(row)) continue;
    histogram.offsets.push_back(at.offset);
    for (size_t event = 0; event < events.size(); ++event) {
      histogram.columns[event].value.push_back(row[event]);
    }
  }
  std::erase_if(histogram.columns, [](const EventColumn& one) { return are_zero(one.value); });
  return histogram;
}

}  // namespace

std::vector<Histogram> make_site_histograms(const std::vector<SimulatedEvent>& events,
                                            ContextId context, std::span<const uint32_t> sites,
                                            const std::function<SimulatedSite(uint32_t)>& site_of,
                                            const std::function<Location(uint32_t)>& locate) {
  std::vector<Placed> placed;
  placed.reserve(sites.size());
  for (const uint32_t site : sites) placed.emplace_back(locate(site), site);
  std::sort(placed.begin(), placed.end());
  std::vector<Histogram> histograms;
  for (auto next = placed.begin(); next != placed.end();) {
    const ImageId image = next->first.image;
    const auto end = std::find_if(next, placed.end(),
                                  [&](const Placed& one) { return one.first.image != image; });
    Histogram histogram = make_histogram(events, {next, end}, site_of);
    histogram.context = context;
    if (!histogram.offsets.empty()) histograms.push_back(std::move(histogram));
    next = end;
  }
  return histograms;
}

}  // namespace culprit
