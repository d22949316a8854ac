#include "session/waits_view.h"

#include <gtest/gtest.h>

#include "attribute/test_profile.h"
#include "model/off_cpu_events.h"

namespace culprit {
namespace {

TEST(WithWaitsOnly, PutsThemFirstAndLeavesOutTheRest) {
  TestProfile test = make_test_profile();
  add_test_stacks(test);
  Profile& profile = test.profile;
  for (const std::string_view name : {kOffCpuEvent, kPreemptedEvent}) {
    Event event;
    event.name = profile.strings.intern(name);
    event.unit = Unit::ns;
    profile.events.push_back(event);
  }
  const size_t rows = profile.histograms[0].offsets.size();
  profile.histograms[0].columns.push_back(
      {EventId(2u), std::vector<uint64_t>(rows, 1), std::vector<uint64_t>(rows, 7), {}});
  profile.histograms[0].columns.push_back(
      {EventId(1u), std::vector<uint64_t>(rows, 1), std::vector<uint64_t>(rows, 5), {}});
  profile.stack_counts.push_back({ContextId(0u), StackId(1u), {EventId(1u), 1, 5, 0}});

  const Result<Profile> waits = with_waits_only(profile);
  ASSERT_TRUE(waits);
  ASSERT_EQ(waits->events.size(), 2u);
  EXPECT_EQ(waits->strings.text(waits->events[0].name), kOffCpuEvent);
  ASSERT_EQ(waits->histograms[0].columns.size(), 2u);
  EXPECT_EQ(waits->histograms[0].columns[0].value[0], 5u);
  EXPECT_EQ(waits->histograms[0].columns[1].value[0], 7u);
  EXPECT_TRUE(waits->histograms[1].columns.empty());
  ASSERT_EQ(waits->stack_counts.size(), 1u);
  EXPECT_EQ(waits->stack_counts[0].cell.event, EventId(0u));
}

TEST(WithWaitsOnly, SaysWhatWouldRecordThem) {
  const Result<Profile> waits = with_waits_only(make_test_profile().profile);
  ASSERT_FALSE(waits);
  EXPECT_NE(waits.error().message.find("culprit record --off-cpu"), std::string::npos);
}

}  // namespace
}  // namespace culprit
