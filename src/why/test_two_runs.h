#pragma once

// A profile of two runs, for tests: the samples of test_profile.h (1,000 of 1 ms, 120 of them in
// the kernel, at 2 GHz: 2 G cycles) with counts of a simulator beside them.

#include <string>

#include "attribute/test_profile.h"

namespace culprit {

inline EventId add_event(Profile& profile, const std::string& name, Event event = {}) {
  event.name = profile.strings.intern(name);
  profile.events.push_back(event);
  return EventId(profile.events.size() - 1);
}

/// Counts of an event, all of them where grind has 250 samples.
inline void add_to_grind(Profile& profile, EventId event, uint64_t samples, uint64_t value) {
  Histogram& histogram = profile.histograms.front();
  const std::vector<uint64_t> none(histogram.offsets.size());
  EventColumn column{event, none, none, {}};
  column.samples.front() = samples;
  column.value.front() = value;
  histogram.columns.push_back(std::move(column));
}

/// An event of the simulator.
inline void add_simulated(Profile& profile, const char* name, Unit unit, uint64_t value) {
  Event event;
  event.engine = profile.strings.intern("simulate");
  event.unit = unit;
  event.provenance = unit == Unit::cycles ? Provenance::modelled : Provenance::counted;
  add_to_grind(profile, add_event(profile, name, event), 0, value);
}

inline TestProfile two_runs(uint64_t modelled = 1'500'000'000) {
  TestProfile test = make_test_profile();
  add_simulated(test.profile, "instructions", Unit::events, 400'000'000);
  add_simulated(test.profile, "sim:cycles", Unit::cycles, modelled);
  return test;
}

}  // namespace culprit
