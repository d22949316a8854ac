#include "session/latency_view.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include "attribute/test_profile.h"

namespace culprit {
namespace {

constexpr uint64_t kFromL3 = PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, L3);

TEST(FindSource, KnowsOldAndNewNamesOfLevels) {
  EXPECT_EQ(find_source(kFromL3), AccessSource::l3);
  EXPECT_EQ(find_source(kFromL3 | PERF_MEM_S(LVLNUM, L3)), AccessSource::l3);
  EXPECT_EQ(find_source(PERF_MEM_S(LVLNUM, LFB)), AccessSource::fill_buffer);
  EXPECT_EQ(find_source(PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, LOC_RAM)), AccessSource::memory);
  EXPECT_EQ(find_source(PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, REM_CCE1)), AccessSource::remote);
  EXPECT_EQ(find_source(PERF_MEM_S(LVLNUM, RAM) | PERF_MEM_S(REMOTE, REMOTE)),
            AccessSource::remote);
  EXPECT_EQ(find_source(PERF_MEM_S(LVL, NA)), AccessSource::other);
}

TEST(FindSource, TellsAMissFromAHit) {
  EXPECT_EQ(find_source(PERF_MEM_S(LVL, MISS) | PERF_MEM_S(LVL, L3)), AccessSource::other);
}

TEST(FindSource, KnowsLinesThatAnotherCoreHasWritten) {
  EXPECT_EQ(find_source(kFromL3 | PERF_MEM_S(SNOOP, HITM)), AccessSource::other_core);
  const uint64_t beyond = PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, REM_CCE1);
  EXPECT_EQ(find_source(beyond | PERF_MEM_S(SNOOP, HITM)), AccessSource::remote);
}

TEST(WalkedPageTables, IfNoLevelOfTheTlbHadTheAddress) {
  EXPECT_TRUE(walked_page_tables(PERF_MEM_S(TLB, HIT) | PERF_MEM_S(TLB, WK)));
  EXPECT_TRUE(walked_page_tables(PERF_MEM_S(TLB, MISS) | PERF_MEM_S(TLB, L2)));
  EXPECT_FALSE(
      walked_page_tables(PERF_MEM_S(TLB, HIT) | PERF_MEM_S(TLB, L1) | PERF_MEM_S(TLB, L2)));
}

TEST(WithLatenciesOnly, AddsThemUpBySourceAndLeavesOutTheRest) {
  TestProfile test = make_test_profile();
  Profile& profile = test.profile;
  const Location place{profile.histograms[0].image, profile.histograms[0].offsets[0]};
  const auto add = [&](uint64_t source, uint64_t cycles) {
    const uint64_t timed = cycles == 0 ? 0 : 1;
    profile.sampled_accesses.push_back({profile.histograms[0].context,
                                        EventId(0u),
                                        place,
                                        {},
                                        source,
                                        1,
                                        timed,
                                        cycles,
                                        cycles * cycles,
                                        0});
  };
  add(kFromL3, 50);
  add(kFromL3 | PERF_MEM_S(TLB, WK), 70);
  add(PERF_MEM_S(LVLNUM, RAM), 300);
  add(kFromL3, 0);  // a store: has none

  const Result<Profile> latencies = with_latencies_only(profile);
  ASSERT_TRUE(latencies);
  ASSERT_EQ(latencies->histograms.size(), 1u);
  ASSERT_EQ(latencies->histograms[0].offsets.size(), 1u);
  std::vector<std::tuple<std::string, uint64_t, uint64_t>> found;
  for (const EventColumn& column : latencies->histograms[0].columns) {
    const Event& event = latencies->events[column.event.value];
    found.emplace_back(latencies->strings.text(event.name), column.samples_at(0), column.value[0]);
  }
  EXPECT_EQ(found, (std::vector<std::tuple<std::string, uint64_t, uint64_t>>{
                       {"latency", 3, 420},
                       {"latency-l3", 2, 120},
                       {"latency-memory", 1, 300},
                       {"latency-page-walk", 1, 70}}));
  EXPECT_TRUE(latencies->sampled_accesses.empty());
}

TEST(WithLatenciesOnly, SaysWhatWouldRecordThem) {
  Profile profile = make_test_profile().profile;
  const Result<Profile> none = with_latencies_only(profile);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("culprit record --data"), std::string::npos);
  profile.sampled_accesses.emplace_back().samples = 1;
  const Result<Profile> faults = with_latencies_only(profile);
  ASSERT_FALSE(faults);
  EXPECT_NE(faults.error().message.find("none of the 1 accesses"), std::string::npos);
}

}  // namespace
}  // namespace culprit
