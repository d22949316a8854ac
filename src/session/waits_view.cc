#include "session/waits_view.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "model/off_cpu_events.h"

namespace culprit {
namespace {

std::optional<EventId> find_event(const Profile& profile, std::string_view name) {
  for (size_t event = 0; event < profile.events.size(); ++event) {
    if (profile.strings.text(profile.events[event].name) == name) return EventId(event);
  }
  return std::nullopt;
}

}  // namespace

Result<Profile> with_waits_only(const Profile& profile) {
  const std::optional<EventId> waiting = find_event(profile, kOffCpuEvent);
  const std::optional<EventId> preempted = find_event(profile, kPreemptedEvent);
  if (!waiting || !preempted) {
    return Error{"no time off the CPU was recorded: culprit record --off-cpu"};
  }
  const std::array wanted{*waiting, *preempted};
  const auto new_id = [&](EventId event) -> std::optional<EventId> {
    const auto* const found = std::ranges::find(wanted, event);
    if (found == wanted.end()) return std::nullopt;
    return EventId(static_cast<size_t>(found - wanted.begin()));
  };
  Profile waits = profile;
  waits.events = {profile.events[waiting->value], profile.events[preempted->value]};
  for (Histogram& histogram : waits.histograms) {
    std::vector<EventColumn> columns;
    for (EventColumn& column : histogram.columns) {
      const std::optional<EventId> event = new_id(column.event);
      if (!event) continue;
      column.event = *event;
      columns.push_back(std::move(column));
    }
    std::ranges::sort(columns, {}, &EventColumn::event);
    histogram.columns = std::move(columns);
  }
  std::erase_if(waits.stack_counts,
                [&](const StackCount& count) { return !new_id(count.cell.event); });
  for (StackCount& count : waits.stack_counts) count.cell.event = *new_id(count.cell.event);
  std::ranges::sort(waits.stack_counts);
  waits.kernel_stacks.clear();
  waits.counts.clear();
  waits.slice_counts.clear();
  waits.sampled_accesses.clear();
  return waits;
}

}  // namespace culprit
