#include "scan/run/event_sets.h"

#include <gtest/gtest.h>

namespace culprit::scan {
namespace {

std::vector<CountedEvent> name_events(const std::vector<std::string>& names) {
  std::vector<CountedEvent> events;
  for (const std::string& name : names) events.push_back({name, {EventGroup{{EventRequest{}}}}});
  return events;
}

/// A machine with so many counters.
FitsCounters counters_for(size_t most) {
  return [most](const EventSet& set) -> Result<bool> { return set.size() <= most; };
}

std::vector<EventSet> choose(const std::vector<std::string>& names, size_t counters) {
  const auto sets = choose_event_sets(name_events(names), counters_for(counters));
  EXPECT_TRUE(sets) << (sets ? "" : sets.error().message);
  return sets ? *sets : std::vector<EventSet>();
}

TEST(EventSets, AreAsLargeAsTheMachineCounts) {
  EXPECT_EQ(choose({"a", "b", "c", "d", "e"}, 2), (std::vector<EventSet>{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(choose({"a", "b"}, 6), (std::vector<EventSet>{{0, 1}}));
}

TEST(EventSets, AllHaveCyclesAndInstructions) {
  EXPECT_EQ(choose({"a", "cycles:u", "b", "instructions:u", "c"}, 4),
            (std::vector<EventSet>{{1, 3, 0, 2}, {1, 3, 4}}));
  EXPECT_EQ(choose({"cycles", "instructions"}, 4), (std::vector<EventSet>{{0, 1}}));
}

TEST(EventSets, WhatFitsNotBesideCyclesIsCountedAlone) {
  EXPECT_EQ(choose({"cycles", "a"}, 1), (std::vector<EventSet>{{0}, {1}}));
  EXPECT_EQ(choose({"cycles", "instructions"}, 1), (std::vector<EventSet>{{0}, {1}}));
}

TEST(EventSets, NoEventsAreOneRunOfTimeAlone) {
  EXPECT_EQ(choose({}, 4), (std::vector<EventSet>{{}}));
}

TEST(EventSets, AnEventThatTheMachineNeverCountsIsNamed) {
  const auto sets = choose_event_sets(name_events({"cycles", "a"}), counters_for(0));
  ASSERT_FALSE(sets);
  EXPECT_NE(sets.error().message.find("'cycles'"), std::string::npos) << sets.error().message;
}

TEST(EventSets, OneTextIsOneEvent) {
  for (const char* wrong :
       {"page-faults,task-clock", "{page-faults,task-clock}", "no-such-event"}) {
    EXPECT_FALSE(find_counted_events({wrong})) << wrong;
  }
  const auto events = find_counted_events({"page-faults:u", "task-clock"});
  ASSERT_TRUE(events) << events.error().message;
  EXPECT_EQ(events->front().name, "page-faults:u");
}

TEST(EventSets, SoftwareEventsFitHere) {
  const auto events = find_counted_events({"page-faults:u", "context-switches", "task-clock"});
  ASSERT_TRUE(events);
  const auto fits = fit_counters_here(*events, {0, 1, 2});
  ASSERT_TRUE(fits) << fits.error().message;
  EXPECT_TRUE(*fits);
}

}  // namespace
}  // namespace culprit::scan
