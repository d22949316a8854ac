#include "model/every_event.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

Profile profile_of(Unit unit, uint64_t period, const char* engine = "software") {
  Profile profile;
  Event event;
  event.name = profile.strings.intern("an-event");
  event.engine = profile.strings.intern(engine);
  event.unit = unit;
  event.provenance = Provenance::sampled;
  event.period = period;
  profile.events.push_back(event);
  return profile;
}

Provenance provenance_of(Profile profile) {
  count_every_event(profile);
  return profile.events[0].provenance;
}

TEST(EveryEvent, OfPeriodOneIsCounted) {
  EXPECT_EQ(provenance_of(profile_of(Unit::events, 1)), Provenance::counted);
  EXPECT_EQ(provenance_of(profile_of(Unit::events, 2)), Provenance::sampled);
  EXPECT_EQ(provenance_of(profile_of(Unit::events, 0)), Provenance::sampled);  // it varies
  EXPECT_EQ(provenance_of(profile_of(Unit::ns, 1)), Provenance::sampled);
  EXPECT_EQ(provenance_of(profile_of(Unit::events, 1, "pmu")), Provenance::sampled);
}

TEST(EveryEvent, IsSampledWhereSomethingWasLost) {
  for (const LedgerKind& kind : {ledger::kLostSamples, ledger::kThrottled}) {
    Profile profile = profile_of(Unit::events, 1);
    profile.ledger.add(kind, 1);
    EXPECT_EQ(provenance_of(profile), Provenance::sampled) << kind.key;
  }
  Profile shared = profile_of(Unit::events, 1);
  shared.counts.push_back({ContextId(0u), EventId(0u), 0, 0, 5, 100, 50});
  EXPECT_EQ(provenance_of(shared), Provenance::sampled);
}

}  // namespace
}  // namespace culprit
