#include "branches/working_set.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "branches/event_names.h"
#include "model/counts.h"

namespace culprit {

std::vector<WorkingSetPart> estimate_working_set(const Profile& profile) {
  // File offset and address are the same within a page: lines begin at the same places.
  std::map<std::pair<ImageId, uint64_t>, double> lines;
  for (const Histogram& histogram : profile.histograms) {
    for_each_count(profile, histogram, [&](const Location& at, size_t event, const Sum& sum) {
      if (profile.strings.text(profile.events[event].name) != branch_events::kInstructions) return;
      lines[{at.image, at.offset.value / kCodeLineBytes}] += static_cast<double>(sum.value);
    });
  }
  std::vector<double> falling;
  double total = 0;
  for (const auto& [line, executions] : lines) {
    falling.push_back(executions);
    total += executions;
  }
  std::sort(falling.begin(), falling.end(), std::greater<>());

  std::vector<WorkingSetPart> parts;
  if (falling.empty()) return parts;
  size_t count = 0;
  double held = 0;
  for (const double percent : {50.0, 90.0, 99.0}) {
    while (count < falling.size() && held < total * percent / 100) held += falling[count++];
    parts.push_back({percent, count});
  }
  parts.push_back({100, falling.size()});
  return parts;
}

}  // namespace culprit
