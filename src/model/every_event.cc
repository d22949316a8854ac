#include "model/every_event.h"

#include <algorithm>

#include "model/engine.h"

namespace culprit {
namespace {

bool has_losses(const Ledger& ledger) {
  const LedgerKind* const kLosses[] = {&ledger::kLostSamples, &ledger::kLostRecords,
                                       &ledger::kThrottled, &ledger::kDamagedRecords,
                                       &ledger::kUnknownEvents};
  return std::ranges::any_of(kLosses,
                             [&](const LedgerKind* kind) { return ledger.amount(*kind) != 0; });
}

/// The hardware's counters miss events while they tell of one, and decoders of traces write 1 for
/// periods that they do not know.
bool is_noticed(Engine engine) {
  return engine == Engine::software || engine == Engine::tracepoint || engine == Engine::breakpoint;
}

/// It had no counter for a part of the time.
bool shared_counter(const Profile& profile, EventId event) {
  return std::ranges::any_of(profile.counts, [&](const Count& count) {
    return count.event == event && count.time_running_ns < count.time_enabled_ns;
  });
}

}  // namespace

void count_every_event(Profile& profile) {
  if (has_losses(profile.ledger)) return;
  for (size_t i = 0; i < profile.events.size(); ++i) {
    Event& event = profile.events[i];
    const bool is_each = event.provenance == Provenance::sampled && event.period == 1 &&
                         event.unit == Unit::events && is_noticed(engine_of(profile, event));
    if (is_each && !shared_counter(profile, EventId(i))) event.provenance = Provenance::counted;
  }
}

}  // namespace culprit
