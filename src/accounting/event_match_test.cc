#include "accounting/event_match.h"

#include <cmath>
#include <gtest/gtest.h>

#include "accounting/test_template.h"

namespace culprit {
namespace {

class Matches : public ::testing::Test {
 protected:
  size_t add(const std::string& name, const std::string& encoding,
             Provenance provenance = Provenance::sampled, Unit unit = Unit::events) {
    Event event;
    event.name = profile_.strings.intern(name);
    event.encoding = profile_.strings.intern(encoding);
    event.provenance = provenance;
    event.unit = unit;
    profile_.events.push_back(event);
    profile_.histograms.resize(1);
    return profile_.events.size() - 1;
  }
  /// Counted for `running` of `enabled` ns.
  void add_count(size_t event, uint64_t enabled, uint64_t running) {
    profile_.counts.push_back({ContextId(), EventId(event), 0, 0, 1, enabled, running});
  }
  /// The value of the row of this event, with every event of the profile counted 100 times;
  /// -1: it was not measured.
  double amount_of(const std::string& row_event) {
    const EventMatch match = match_events(profile_, cpu_);
    const std::vector<Estimate> values(profile_.events.size(), Estimate{100, 10});
    const RowAmounts amounts = match.amounts(values);
    for (size_t row = 0; row < cpu_.rows.size(); ++row) {
      if (cpu_.rows[row].event == row_event) {
        return amounts[row] ? amounts[row]->events.value : -1;
      }
    }
    return -2;
  }

  Template cpu_ = made_template();
  Profile profile_;
};

TEST_F(Matches, ByCodeWithoutPrivilegeBits) {
  profile_.machine.architecture = "x86_64";
  add("whatever", "type=4,config=0x5301d3");
  EXPECT_EQ(amount_of("LOCAL_DRAM"), 100);
  EXPECT_EQ(amount_of("REMOTE_DRAM"), -1);
}

/// x86 has bits for privileges in its codes; elsewhere they belong to the event: POWER9's
/// PM_CMPLU_STALL_LWSYNC is 0x10036, PM_CMPLU_STALL_HWSYNC 0x30036.
TEST_F(Matches, AllBitsOfACodeWhereTheyAreTheEvents) {
  profile_.machine.architecture = "ppc64le";
  cpu_.rows[2].code = 0x10036;
  cpu_.rows[3].code = 0x30036;
  add("lwsync", "type=4,config=0x10036");
  EXPECT_EQ(amount_of("LOCAL_DRAM"), 100);
  EXPECT_EQ(amount_of("REMOTE_DRAM"), -1);
}

TEST_F(Matches, ByNameInTheSpellingsOfPerfAndLibpfm) {
  cpu_.rows[2].event = "MEM_LOAD_RETIRED:L2_HIT";
  add("cpu/mem_load_retired.l2_hit/u", "");
  EXPECT_EQ(amount_of("MEM_LOAD_RETIRED:L2_HIT"), 100);
}

TEST_F(Matches, GenericCyclesAndInstructions) {
  add("cycles", "type=0,config=0x0");
  add("instructions:u", "type=0,config=0x1");
  EXPECT_EQ(amount_of("CYCLES"), 100);
  EXPECT_EQ(amount_of("INSTRUCTIONS"), 100);
}

TEST_F(Matches, TimeWhereTheClockIsKnown) {
  add("cpu-clock", "type=1,config=0x0", Provenance::sampled, Unit::ns);
  EXPECT_EQ(amount_of("CYCLES"), -1);
  profile_.machine.clock = ClockCalibration{2.5e9, 2.4e9, 2.6e9, 3};
  EXPECT_EQ(amount_of("CYCLES"), 250);
}

TEST_F(Matches, UserAndKernelAreParts) {
  add("LOCAL_DRAM:u", "type=4,config=0x1d3");
  add("LOCAL_DRAM:k", "type=4,config=0x1d3");
  EXPECT_EQ(amount_of("LOCAL_DRAM"), 200);
}

TEST_F(Matches, TheSameTwiceCountsOnce) {
  add("LOCAL_DRAM:u", "type=4,config=0x1d3");
  add("LOCAL_DRAM:u", "type=4,config=0x1d3");
  EXPECT_EQ(amount_of("LOCAL_DRAM"), 100);
  add("LOCAL_DRAM:pp", "type=4,config=0x1d3");  // all of it
  EXPECT_EQ(amount_of("LOCAL_DRAM"), 100);
}

TEST_F(Matches, NotWhatOtherPmusCountUnderTheSameCode) {
  add("uncore_imc_0/event=0xd3,umask=0x1/", "type=24,config=0x1d3");
  add("cpu_atom/event=0xd3,umask=0x1/", "type=10,config=0x1d3");
  EXPECT_EQ(amount_of("LOCAL_DRAM"), -1);
}

TEST_F(Matches, CorrectsForTheTimeWithoutACounter) {
  add_count(add("LOCAL_DRAM", "type=4,config=0x1d3"), 1000, 250);
  EXPECT_EQ(amount_of("LOCAL_DRAM"), 400);
}

TEST_F(Matches, WhatNeverHadACounterWasNotMeasured) {
  add_count(add("LOCAL_DRAM", "type=4,config=0x1d3"), 1000, 0);
  EXPECT_EQ(amount_of("LOCAL_DRAM"), -1);
  ASSERT_EQ(match_events(profile_, cpu_).remarks().size(), 1u);
  EXPECT_EQ(match_events(profile_, cpu_).remarks()[0], "never had a counter: LOCAL_DRAM");
}

// A profile without samples and simulation has 0 of each, and no want of counters.
TEST_F(Matches, OnlyCountsTakeTurnsOnCounters) {
  add("CYCLES", "");
  profile_.events[add("STALLS", "", Provenance::counted)].engine =
      profile_.strings.intern("simulate");
  const size_t counted = add("LOCAL_DRAM", "type=4,config=0x1d3", Provenance::counted);
  profile_.events[counted].engine = profile_.strings.intern("pmu");
  profile_.histograms.clear();
  ASSERT_EQ(match_events(profile_, cpu_).remarks().size(), 1u);
  EXPECT_EQ(match_events(profile_, cpu_).remarks()[0], "never had a counter: LOCAL_DRAM");
  EXPECT_EQ(amount_of("STALLS"), 100);
}

TEST_F(Matches, TellsWhatItDoesNotKnow) {
  add("page-faults", "type=1,config=0x2");
  add("LOCAL_DRAM", "");
  EXPECT_EQ(match_events(profile_, cpu_).others(), std::vector<size_t>{0});
}

// Three turns of 10 of 20 ns, 10 events in each: 60, scaled up from 30. Only what was not
// seen of the first and the last turn is uncertain: 10 + 10 ns at the rate, in squares, which is
// the half of a 95 % interval (stats/repeated.h).
TEST_F(Matches, ScaledCountsHaveTheErrorOfTheirTurns) {
  const size_t event = add("LOCAL_DRAM", "", Provenance::counted);
  for (uint32_t turn = 0; turn < 3; ++turn) {
    profile_.counts.push_back({ContextId(), EventId(event), turn, 0, 10, 20, 10});
  }
  const EventMatch match = match_events(profile_, cpu_);
  const Estimate scaled = match.amounts(std::vector<Estimate>{{30, 0}})[2]->events;
  EXPECT_DOUBLE_EQ(scaled.value, 60);
  EXPECT_NEAR(scaled.standard_error, std::hypot(10, 10) / kNormal95, 1e-9);
  EXPECT_TRUE(match.remarks().empty());
  profile_.counts.pop_back();
  EXPECT_EQ(match_events(profile_, cpu_).remarks().size(), 1u);  // too few to tell
}

TEST_F(Matches, SaysSoWhenManyEventsMayHaveSharedCounters) {
  for (const char* event : {"CYCLES", "STALLS", "LOCAL_DRAM", "REMOTE_DRAM"}) add(event, "");
  EXPECT_TRUE(match_events(profile_, cpu_).remarks().empty());
  add("WALKS", "");
  EXPECT_EQ(match_events(profile_, cpu_).remarks().size(), 1u);
}

}  // namespace
}  // namespace culprit
