#include "collect/stream/off_cpu.h"

#include <algorithm>
#include <utility>

#include "model/engine.h"
#include "model/off_cpu_events.h"

namespace culprit {

void add_off_cpu_events(ProfileBuilder& builder) {
  for (const std::string_view name : {kOffCpuEvent, kPreemptedEvent}) {
    Event event;
    event.name = builder.intern(name);
    event.unit = Unit::ns;
    event.provenance = Provenance::counted;
    event.engine = builder.intern(word_of(Engine::software));
    event.encoding = builder.intern("context-switches");
    builder.profile().events.push_back(event);
  }
}

void OffCpuTime::leave(uint32_t tid, PlacedSample place) {
  if (exited_.contains(tid)) return;  // nobody waits for it to come back
  const auto [wait, is_new] = waits_.insert_or_assign(tid, Wait{std::move(place), false});
  if (!is_new) ++lost_ends_;
}

void OffCpuTime::confirm(uint32_t tid, bool preempted) {
  const auto wait = waits_.find(tid);
  if (wait != waits_.end()) wait->second.preempted = preempted;
}

std::optional<PlacedSample> OffCpuTime::enter(uint32_t tid, uint64_t now_ns) {
  const auto found = waits_.extract(tid);
  if (found.empty()) return std::nullopt;
  return measure(std::move(found.mapped()), now_ns);
}

void OffCpuTime::mark_exited(uint32_t tid) {
  exited_.insert(tid);
  waits_.erase(tid);
}

std::vector<PlacedSample> OffCpuTime::end(uint64_t now_ns) {
  std::vector<PlacedSample> ended;
  for (auto& [tid, wait] : waits_) ended.push_back(measure(std::move(wait), now_ns));
  waits_.clear();
  return ended;
}

PlacedSample OffCpuTime::measure(Wait wait, uint64_t now_ns) const {
  PlacedSample place = std::move(wait.place);
  place.event = wait.preempted ? events_.preempted : events_.waiting;
  place.samples = 1;
  place.value = std::max(now_ns, place.time_ns) - place.time_ns;
  return place;
}

}  // namespace culprit
