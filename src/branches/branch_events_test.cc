#include "branches/branch_events.h"

#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>

#include "attribute/test_profile.h"
#include "branches/branch_scale.h"
#include "branches/event_names.h"
#include "branches/test_counts.h"
#include "model/engine.h"
#include "model/random_profile.h"

namespace culprit {

namespace {

using namespace branch_events;

Profile made_of(const TestProfile& test) {
  Result<Profile> made = with_branch_events(test.profile, test.lookup());
  EXPECT_TRUE(made);
  return made ? *std::move(made) : Profile();
}

TestProfile with_branches() {
  TestProfile test = make_test_profile();
  add_test_branches(test);
  return test;
}

using Values = std::map<uint64_t, uint64_t>;

// ---- By hand, from the listing in test_profile.h. ----

TEST(BranchEvents, RunsCountTheirInstructions) {
  const Profile made = made_of(with_branches());
  Values expected;
  for (uint64_t at = 0x200; at < 0x210; ++at) expected[at] = 1;  // range 1200-1214
  for (const uint64_t at : {0x210u, 0x213u, 0x214u}) expected[at] = 1 + 59 + 40;
  expected[0x216] = 40;  // range 1210-1223
  for (uint64_t at = 0x218; at < 0x220; ++at) expected[at] = 40;
  for (const uint64_t at : {0x220u, 0x223u}) expected[at] = 40 + 60;
  EXPECT_EQ(values_of(made, kInstructions), expected);
  EXPECT_EQ(values_of(made, kBlocks),
            (Values{{0x200, 1}, {0x210, 100}, {0x216, 40}, {0x220, 100}}));
  EXPECT_EQ(values_of(made, kRuns), (Values{{0x200, 1}, {0x210, 99}, {0x220, 60}}));
}

TEST(BranchEvents, BranchesCountAtBothEnds) {
  const Profile made = made_of(with_branches());
  EXPECT_EQ(values_of(made, kTaken), (Values{{0x214, 60}, {0x223, 99}, {0x308, 1}}));
  EXPECT_EQ(values_of(made, kTargets), (Values{{0x200, 1}, {0x210, 99}, {0x220, 60}, {0x300, 1}}));
  EXPECT_EQ(values_of(made, kMisses), (Values{{0x214, 6}}));
  EXPECT_EQ(values_of(made, kJudged), (Values{{0x214, 60}, {0x223, 99}, {0x308, 1}}));
  EXPECT_EQ(values_of(made, kCalls), (Values{{0x200, 1}, {0x300, 1}}));
  EXPECT_EQ(values_of(made, kCallsMade), (Values{{0x308, 1}}));  // the other is libc's
}

TEST(BranchEvents, WhatIsNotKnownIsNotThere) {
  TestProfile test = with_branches();
  for (BranchCount& branch : test.profile.branch_counts) branch.judged = branch.mispredicted = 0;
  const Profile made = made_of(test);
  EXPECT_EQ(find_event(made, kMisses), nullptr);
  EXPECT_EQ(find_event(made, kJudged), nullptr);
  EXPECT_EQ(find_event(made, kCycles), nullptr);
  EXPECT_EQ(find_event(made, kIndirectCalls), nullptr);
}

// A simulator's rows are neither sampled nor scaled.
TEST(BranchEvents, ASimulatorsBranchesAreCounted) {
  TestProfile test = with_branches();
  ASSERT_FALSE(test.profile.runs.empty());
  for (auto& run : test.profile.runs) mark_simulated(test.profile.strings, run);
  for (Context& context : test.profile.contexts) context.run = RunId(0u);
  EXPECT_TRUE(find_branch_scale(test.profile).is_exact);
  const Profile made = made_of(test);
  EXPECT_EQ(values_of(made, kTaken), (Values{{0x214, 60}, {0x223, 99}, {0x308, 1}}));
  EXPECT_EQ(find_event(made, kTaken)->provenance, Provenance::counted);
  EXPECT_EQ(find_event(made, kTaken)->scale, 1);
  for (const auto& [at, sum] : counts_of(made, kInstructions)) {
    EXPECT_EQ(sum.samples, 0U);
    EXPECT_EQ(sum.variance, 0);
  }
}

TEST(BranchEvents, OwnEventsKeepTheirCounts) {
  const TestProfile test = with_branches();
  const Profile made = made_of(test);
  const Sums before = total_sums(test.profile);
  const Sums after = total_sums(made);
  EXPECT_EQ(made.strings.text(made.events.front().name), kInstructions);
  EXPECT_EQ(made.strings.text(made.events.back().name), "cpu-clock");
  EXPECT_EQ(after.back().value, before.back().value);
  EXPECT_EQ(after.back().samples, before.back().samples);
}

TEST(BranchEvents, CyclesAreSpreadOverTheRunsThatEndAtTheBranch) {
  TestProfile test = with_branches();
  // 99 records at 1223 took 990 cycles: 10 each, 1,000 for 40 runs 1210-1223 of 14 instructions
  // and 60 runs 1220-1223 of 2: 1000 / (40 x 14 + 60 x 2) = 25/17 for each instruction.
  test.profile.branch_counts[1].cycles = 990;
  test.profile.branch_counts[1].timed = 99;
  const Profile made = made_of(test);
  const Event* event = find_event(made, kCycles);
  ASSERT_NE(event, nullptr);
  double total = 0;
  std::map<uint64_t, double> cycles;
  for (const auto& [at, sum] : counts_of(made, kCycles)) {
    cycles[at] = static_cast<double>(sum.value) * event->scale;
    total += cycles[at];
  }
  EXPECT_NEAR(total, 1000, 1);  // 100 runs of 10 cycles
  EXPECT_NEAR(cycles[0x216], 40 * 25.0 / 17, 0.01);
  EXPECT_NEAR(cycles[0x220], 100 * 25.0 / 17, 0.01);
  EXPECT_EQ(cycles.count(0x200), 0u);  // ends at a branch without cycles
}

// ---- What cannot be counted is in the ledger. ----

TEST(BranchEvents, ImpossibleRunsAreInTheLedger) {
  TestProfile test = with_branches();
  const auto add = [&](uint64_t from, uint64_t to, uint64_t count) {
    test.profile.fall_throughs.push_back(
        {ContextId(0u), ImageId(0u), FileOffset(from), FileOffset(to), count});
  };
  const Values before = values_of(made_of(test), kInstructions);
  add(0x214, 0x210, 1);             // backwards
  add(0x210, 0x210 + 0x20000, 10);  // 128 KiB
  add(0x211, 0x214, 100);           // from within an instruction
  add(0x210, 0x215, 1000);          // into one
  add(0x220, 0x226, 10000);         // over the jmp at 1223
  add(0, UINT64_MAX, 100000);
  add(0x220, 0x310, 7);  // into another function
  const Profile made = made_of(test);
  EXPECT_EQ(values_of(made, kInstructions), before);
  EXPECT_EQ(made.ledger.amount(ledger::kImpossibleRuns), 111111u);
  EXPECT_EQ(made.ledger.amount(ledger::kCrossingRuns), 7u);
  EXPECT_EQ(made.ledger.amount(ledger::kRunsWithoutCode), 0u);
}

TEST(BranchEvents, WithoutCodeRunsAreCountedWhereTheyStart) {
  TestProfile test = with_branches();
  test.facts[ImageId(0u)].code.clear();
  const Profile made = made_of(test);
  EXPECT_EQ(find_event(made, kInstructions), nullptr);
  EXPECT_EQ(values_of(made, kRuns), (Values{{0x200, 1}, {0x210, 99}, {0x220, 60}}));
  EXPECT_EQ(made.ledger.amount(ledger::kRunsWithoutCode), 160u);
}

TEST(BranchEvents, BranchesFromNowhereAreInTheLedger) {
  TestProfile test = with_branches();
  test.profile.images[1].kind = ImageKind::unknown;  // libc, which called once
  EXPECT_EQ(made_of(test).ledger.amount(ledger::kBranchesWithoutPlace), 1u);
}

TEST(BranchEvents, NoBranchRecordsIsAnErrorThatSaysHowToGetThem) {
  const TestProfile test = make_test_profile();
  const Result<Profile> made = with_branch_events(test.profile, test.lookup());
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("record -b"), std::string::npos);
}

TEST(BranchEvents, SurviveHostileCounts) {
  TestProfile test = with_branches();
  for (FallThrough& run : test.profile.fall_throughs) run.count = UINT64_MAX;
  for (BranchCount& branch : test.profile.branch_counts) {
    branch.count = branch.mispredicted = branch.judged = branch.timed = branch.cycles = UINT64_MAX;
  }
  test.profile.fall_throughs.push_back(
      {ContextId(99u), ImageId(99u), FileOffset(1), FileOffset(2), 1});
  test.profile.branch_counts.push_back(
      {ContextId(99u), {ImageId(99u), FileOffset(1)}, {ImageId(), FileOffset(2)}, 1, 0, 0, 0, 0});
  const Profile made = made_of(test);
  for (const auto& [at, sum] : counts_of(made, kInstructions)) {
    EXPECT_GT(sum.value, uint64_t{1} << 61) << at;
    EXPECT_TRUE(std::isfinite(sum.variance));
  }
}

TEST(BranchEvents, SurviveWhatDoesNotFitTogether) {
  const ImageFacts mill = mill_facts();
  const FactsLookup everywhere = [&](ImageId) { return &mill; };
  for (unsigned seed = 0; seed < 50; ++seed) {
    RandomProfile random(seed);
    random.grow();
    const Result<Profile> made = with_branch_events(random.profile(), everywhere);
    if (!has_branch_records(random.profile())) continue;
    ASSERT_TRUE(made);
    // Every run is counted or in the ledger.
    uint64_t runs = 0;
    for (const FallThrough& run : random.profile().fall_throughs) runs += run.count;
    Sums totals = total_sums(*made);
    uint64_t seen =
        made->ledger.amount(ledger::kImpossibleRuns) + made->ledger.amount(ledger::kCrossingRuns);
    for (size_t event = 0; event < totals.size(); ++event) {
      if (made->strings.text(made->events[event].name) == kRuns) seen += totals[event].value;
    }
    EXPECT_EQ(seen, runs) << seed;
  }
}

// A million instructions in 20,000 contexts: only what ran may cost anything.
TEST(BranchEvents, LargeFunctionsInManyContextsStaySmall) {
  TestProfile test = with_branches();
  ImageFacts& facts = test.facts[ImageId(0u)];
  constexpr size_t kBytes = size_t{1} << 20;
  facts.functions[0].end = FileOffset(0x200 + kBytes);
  facts.functions.resize(1);
  facts.code = {{FileOffset(0x200), std::string(kBytes, '\x90')}};
  facts.segments[0].size_bytes = 2 * kBytes;
  test.profile.fall_throughs.clear();
  for (uint32_t i = 0; i < 20'000; ++i) {
    Context context = test.profile.contexts[0];
    context.label = test.profile.strings.intern(std::to_string(i));
    test.profile.contexts.push_back(context);
    test.profile.fall_throughs.push_back({ContextId(test.profile.contexts.size() - 1), ImageId(0u),
                                          FileOffset(0x1000), FileOffset(0x1001), 1});
  }
  EXPECT_EQ(values_of(made_of(test), kInstructions), (Values{{0x1000, 20'000}, {0x1001, 20'000}}));
}

// ---- What one record stands for. ----

TEST(BranchScale, KnowsTakenBranchesByNameAndByCode) {
  EXPECT_TRUE(counts_taken_branches("BR_INST_RETIRED.NEAR_TAKEN:upp", "", ""));
  EXPECT_TRUE(counts_taken_branches("br_inst_retired:near_taken", "", ""));
  EXPECT_TRUE(counts_taken_branches("r20c4", "type=4,config=0x20c4:pp", "Intel(R) Xeon(R)"));
  EXPECT_TRUE(counts_taken_branches("rc4", "type=4,config=0xc4", "AMD EPYC"));
  EXPECT_FALSE(counts_taken_branches("rc4", "type=4,config=0xc4", "Intel(R) Xeon(R)"));  // all
  EXPECT_FALSE(counts_taken_branches("r20c4", "type=4,config=0x20c4", ""));  // whose code?
  EXPECT_FALSE(counts_taken_branches("cycles", "type=0,config=0x0", "Intel(R) Xeon(R)"));
}

TEST(BranchScale, SamplesOfTimeDoNotCountExecutions) {
  const TestProfile test = with_branches();
  const BranchScale scale = find_branch_scale(test.profile);
  EXPECT_FALSE(scale.is_scaled);
  EXPECT_EQ(scale.per_run, 1);
  const Profile made = made_of(test);
  ASSERT_EQ(made.ledger.notes().size(), 1u);
  EXPECT_NE(made.ledger.notes()[0].find("not scaled"), std::string::npos);
}

TEST(BranchScale, PeriodAndDepthSayWhatARecordStandsFor) {
  // By hand: 10 samples every 1,000 taken branches with 16 records each: 160 branches, 150
  // runs; a branch stands for 1000 / 16 = 62.5, a run for 1000 / 15.
  Profile profile;
  profile.contexts.resize(1);
  profile.images.resize(1);
  Event event;
  event.name = profile.strings.intern("br_inst_retired.near_taken");
  event.encoding = profile.strings.intern("");
  event.provenance = Provenance::sampled;
  event.period = 1000;
  profile.events = {event};
  const ContextId who(0u);
  const ImageId image(0u);
  profile.histograms = {{who, image, {FileOffset(8)}, {{EventId(0u), {10}, {10'000}, {}}}}};
  profile.branch_counts = {{who, {image, FileOffset(8)}, {image, FileOffset(0)}, 160, 0, 0, 0, 0}};
  profile.fall_throughs = {{who, image, FileOffset(0), FileOffset(8), 150}};
  const BranchScale scale = find_branch_scale(profile);
  EXPECT_TRUE(scale.is_scaled);
  EXPECT_DOUBLE_EQ(scale.per_branch, 62.5);
  EXPECT_DOUBLE_EQ(scale.per_run, 1000.0 / 15);
  EXPECT_DOUBLE_EQ(scale.depth, 16);
}

}  // namespace

}  // namespace culprit
