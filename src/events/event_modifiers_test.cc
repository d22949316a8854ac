// What each letter means is perf's (man perf-list); tests/events_test.py asks perf itself.

#include "events/event_modifiers.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

EventRequest apply(std::string_view event, std::string_view group = "", bool is_leader = true) {
  Modifiers modifiers;
  EXPECT_TRUE(modifiers.add(event, "event"));
  EXPECT_TRUE(modifiers.add(group, "event"));
  EventRequest request;
  modifiers.apply(request, is_leader);
  return request;
}

TEST(Modifiers, NamedLevelsAreCountedAndOthersNot) {
  const EventRequest user = apply("u");
  EXPECT_FALSE(user.exclude_user);
  EXPECT_TRUE(user.exclude_kernel);
  EXPECT_TRUE(user.exclude_hypervisor);
  const EventRequest both = apply("uk");
  EXPECT_FALSE(both.exclude_user);
  EXPECT_FALSE(both.exclude_kernel);
  EXPECT_TRUE(both.exclude_hypervisor);
  const EventRequest none = apply("");
  EXPECT_FALSE(none.exclude_user || none.exclude_kernel || none.exclude_hypervisor);
}

TEST(Modifiers, GuestsOnlyWhenAsked) {
  EXPECT_TRUE(apply("").exclude_guest);
  EXPECT_FALSE(apply("").exclude_host);
  EXPECT_FALSE(apply("G").exclude_guest);
  EXPECT_TRUE(apply("G").exclude_host);
  EXPECT_FALSE(apply("k").exclude_guest);  // perf's, too
  EXPECT_TRUE(apply("", "k").exclude_guest);
  EXPECT_TRUE(apply("k", "u").exclude_guest);
  EXPECT_TRUE(apply("H").exclude_guest);
  EXPECT_FALSE(apply("GH").exclude_guest);
  EXPECT_FALSE(apply("GH").exclude_host);
}

TEST(Modifiers, TheGroupsAddToTheEvents) {
  const EventRequest both = apply("u", "k");
  EXPECT_FALSE(both.exclude_user);
  EXPECT_FALSE(both.exclude_kernel);
  EXPECT_EQ(apply("p", "p").precise_level, 2);
}

TEST(Modifiers, PinnedAndExclusiveBelongToTheLeader) {
  EXPECT_TRUE(apply("", "De").pinned);
  EXPECT_TRUE(apply("", "De").exclusive);
  EXPECT_FALSE(apply("", "De", false).pinned);
  EXPECT_FALSE(apply("", "De", false).exclusive);
}

TEST(Modifiers, OtherLetters) {
  EXPECT_TRUE(apply("I").exclude_idle);
  EXPECT_TRUE(apply("P").precise_max);
  EXPECT_EQ(apply("ppp").precise_level, 3);
  EXPECT_TRUE(apply("S").sample_group);
  EXPECT_TRUE(is_modifiers("ukhGHIpPDeS"));
  EXPECT_FALSE(is_modifiers(""));
  EXPECT_FALSE(is_modifiers("c=2"));
}

}  // namespace
}  // namespace culprit
