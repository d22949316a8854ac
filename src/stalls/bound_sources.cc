#include "stalls/bound_sources.h"

#include <algorithm>

namespace culprit {

std::vector<std::string> name_sources(BoundSources sources, std::span<const std::string> events) {
  std::vector<std::string> names;
  for (size_t event = 0; event < std::min(events.size(), BoundSources::kMostEvents); ++event) {
    if (sources.has_event(event)) names.push_back(events[event]);
  }
  if (sources.has_model()) names.emplace_back("simulated run");
  if (sources.has_executions()) names.emplace_back("executions");
  return names;
}

}  // namespace culprit
