// Experiments beside the profile of test_two_runs.h (2 G cycles); expected numbers by hand.

#include "why/tried.h"

#include <gtest/gtest.h>

#include "accounting/test_template.h"
#include "why/test_two_runs.h"
#include "why/why.h"

namespace culprit {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr size_t kPushBack = 3;  // row of test_profile.h's first histogram

/// Runs of one kind, by pair [ms].
void add_runs(Profile& profile, EventId event, const std::vector<int64_t>& times_ms) {
  for (size_t pair = 0; pair < times_ms.size(); ++pair) {
    Count count;
    count.event = event;
    count.repetition = static_cast<uint32_t>(pair);
    count.value = static_cast<uint64_t>(times_ms[pair] * kMs);
    profile.counts.push_back(count);
  }
}

/// Pairs of runs, as they are and changed, whose samples are in grind.
void add_experiment(Profile& profile, const ExperimentKind& kind, const std::vector<int64_t>& as_ms,
                    const std::vector<int64_t>& changed_ms) {
  Event event;
  event.unit = Unit::ns;
  event.provenance = Provenance::sampled;
  event.period = kMs;
  const auto add = [&](const std::string& name, const std::vector<int64_t>& times_ms) {
    int64_t sum_ms = 0;
    for (const int64_t one : times_ms) sum_ms += one;
    const EventId id = add_event(profile, name, event);
    add_to_grind(profile, id, static_cast<uint64_t>(sum_ms), static_cast<uint64_t>(sum_ms * kMs));
    add_runs(profile, id, times_ms);
  };
  add(std::string(kAsItIsTime), as_ms);
  add(experiment_event(kind), changed_ms);
}

TestProfile runs_that_take_lines() {
  TestProfile test = two_runs(500'000'000);
  add_simulated(test.profile, "other-core-modified-loads", Unit::events, 10'000);
  return test;
}

const ExperimentKind& kOneCpu = kExperiments[0];
const ExperimentKind& kNoSubnormals = kExperiments[1];

TEST(Tried, IsTheMedianOfPairsAndTheirRange) {
  TestProfile test = runs_that_take_lines();
  add_experiment(test.profile, kOneCpu, {1000, 1000, 500}, {400, 300, 250});
  const std::vector<TriedChange> tried = find_tried_changes(test.profile);
  ASSERT_EQ(tried.size(), 1U);
  EXPECT_EQ(tried[0].pairs, 3U);
  EXPECT_DOUBLE_EQ(tried[0].saved.expected, 0.6);
  EXPECT_DOUBLE_EQ(tried[0].saved.low, 0.5);
  EXPECT_DOUBLE_EQ(tried[0].saved.high, 0.7);
  EXPECT_TRUE(tried[0].saves());
  EXPECT_EQ(describe_tried(tried[0]),
            "with all threads on one CPU it takes 60 % less user time (50 to 70 %, 3 pairs of "
            "runs)");
}

TEST(Tried, IsNothingWithoutAPair) {
  TestProfile test = runs_that_take_lines();
  EXPECT_TRUE(find_tried_changes(test.profile).empty());
  add_runs(test.profile, add_event(test.profile, experiment_event(kOneCpu)), {400});
  EXPECT_TRUE(find_tried_changes(test.profile).empty());
}

class TriedAdviceOf : public ::testing::Test {
 protected:
  TriedAdviceOf() { cpu_.is_simulated = true; }

  WhyReport ask() {
    Result<WhyReport> why = make_why(test_.profile, test_.lookup(), cpu_, {});
    EXPECT_TRUE(why);
    return *std::move(why);
  }
  static const PlacedAdvice* find(const WhyReport& why) {
    for (const PlacedAdvice& one : why.advice) {
      if (one.tried != nullptr) return &one;
    }
    return nullptr;
  }

  TestProfile test_ = runs_that_take_lines();
  Template cpu_ = made_template();
};

// 60 % of 2 G cycles.
TEST_F(TriedAdviceOf, LinesOfOtherThreadsIsWhatOneCpuSaves) {
  add_experiment(test_.profile, kOneCpu, {1000, 1000, 500}, {400, 300, 250});
  const WhyReport why = ask();
  const PlacedAdvice* const advice = find(why);
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->branch, CostBranch::multithread_collisions);
  EXPECT_NE(advice->function.find("grind"), std::string::npos);
  EXPECT_NEAR(advice->cycles.value, 1.2e9, 1);
  ASSERT_TRUE(advice->gain);
  EXPECT_NEAR(advice->gain->expected, 0.6, 1e-9);
  EXPECT_NEAR(advice->gain->low, 0.5, 1e-9);
  EXPECT_NEAR(advice->gain->high, 0.7, 1e-9);
  EXPECT_EQ(why.verdict.certainty, Certainty::firm);
  ASSERT_NE(why.verdict.branch, nullptr);
  EXPECT_EQ(why.verdict.branch->branch, CostBranch::multithread_collisions);
  const std::string text = print_why(test_.profile, cpu_, why, Format::text, {});
  EXPECT_NE(text.find("Measured: 60 % less time (50 to 70 %)"), std::string::npos) << text;
}

// Five runs as it is, for another experiment's sake, and three without subnormals. A run takes 600
// ms in grind, which go, and 400 elsewhere, which stay.
TEST_F(TriedAdviceOf, RunsAreComparedAndNotSums) {
  Profile& profile = test_.profile;
  add_experiment(profile, kOneCpu, {600, 600, 600, 600, 600}, {600, 600, 600, 600, 600});
  add_experiment(profile, kNoSubnormals, {}, {});
  const auto add_elsewhere = [&](size_t event, uint64_t ms) {
    EventColumn& column = profile.histograms.front().columns.at(event);
    column.samples.at(kPushBack) += ms;
    column.value.at(kPushBack) += ms * kMs;
  };
  const size_t columns = profile.histograms.front().columns.size();
  add_elsewhere(columns - 4, 5 * 400);
  add_elsewhere(columns - 1, 3 * 400);
  for (Count& count : profile.counts) count.value += 400 * kMs;
  add_runs(profile, EventId(profile.events.size() - 1), {400, 400, 400});
  const WhyReport why = ask();
  ASSERT_NE(find(why), nullptr);
  EXPECT_EQ(find(why)->branch, CostBranch::microcode_exceptions);
  EXPECT_EQ(find(why)->tried->pairs, 3U);
  EXPECT_EQ(find(why)->tried->runs_as_it_is, 5U);
  EXPECT_NEAR(find(why)->cycles.value, 0.6 * 2e9, 1);
}

TEST_F(TriedAdviceOf, NoPlaceWhereNoLineWasTaken) {
  test_.profile.histograms.front().columns.back().value.front() = 0;
  add_experiment(test_.profile, kOneCpu, {1000, 1000, 500}, {400, 300, 250});
  const WhyReport why = ask();
  EXPECT_EQ(find(why), nullptr);
  EXPECT_NE(print_why(test_.profile, cpu_, why, Format::text, {}).find("Tried"), std::string::npos);
}

TEST_F(TriedAdviceOf, NothingThatNotAllPairsSave) {
  add_experiment(test_.profile, kNoSubnormals, {1000, 1000, 1000}, {400, 300, 1010});
  EXPECT_EQ(find(ask()), nullptr);
}

TEST_F(TriedAdviceOf, SubnormalsNeedNoOtherEvidence) {
  test_.profile.histograms.front().columns.back().value.front() = 0;
  add_experiment(test_.profile, kNoSubnormals, {1000, 1000, 1000}, {250, 250, 250});
  const WhyReport why = ask();
  ASSERT_NE(find(why), nullptr);
  EXPECT_EQ(find(why)->branch, CostBranch::microcode_exceptions);
  EXPECT_NEAR(find(why)->cycles.value, 1.5e9, 1);
  EXPECT_EQ(why.verdict.certainty, Certainty::firm);
}

}  // namespace
}  // namespace culprit
