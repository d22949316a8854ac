// Programs whose true counts are known, seen through branch records.

#include "branches/made_program.h"

#include <cmath>
#include <gtest/gtest.h>

#include "branches/branch_events.h"
#include "branches/event_names.h"
#include "branches/test_counts.h"

namespace culprit {

namespace {

using namespace branch_events;
using Values = std::map<uint64_t, uint64_t>;

Profile made_of(MadeProgram& program, size_t period, size_t depth, size_t jitter) {
  const FactsLookup lookup = [&](ImageId) { return &program.facts(); };
  Result<Profile> made = with_branch_events(program.sample(period, depth, jitter), lookup);
  EXPECT_TRUE(made);
  return made ? *std::move(made) : Profile();
}

// Records of D branches every D - 1 taken branches meet end to end: each straight run is in
// exactly one of them. What is missing is before the first branch and behind the last
// record: less than D runs, each at most once over an instruction.
TEST(MadeProgram, RecordsThatMeetGiveTheTrueCounts) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    for (const size_t depth : {16u, 32u}) {
      MadeProgram program(seed);
      program.walk(20'000);
      const Profile made = made_of(program, depth - 1, depth, 0);
      const Event* event = find_event(made, kInstructions);
      ASSERT_NE(event, nullptr);
      EXPECT_NEAR(event->scale, 1, 1e-9);
      EXPECT_EQ(made.ledger.amount(ledger::kImpossibleRuns), 0u);
      EXPECT_EQ(made.ledger.amount(ledger::kCrossingRuns), 0u);
      const Values counted = values_of(made, kInstructions);
      const std::vector<uint64_t>& executions = program.all_executions();
      for (uint64_t at = 0; at < executions.size(); ++at) {
        const uint64_t truth = executions[at];
        const auto found = counted.find(at);
        const uint64_t value = found == counted.end() ? 0 : found->second;
        EXPECT_LE(value, truth) << seed << " at " << at;
        EXPECT_LE(truth - value, depth) << seed << " at " << at;
      }
      for (const auto& [at, count] : values_of(made, kBlocks)) EXPECT_EQ(count, counted.at(at));
    }
  }
}

// Fewer samples: the period's length varies, so that loops do not beat with it. The counts
// are within five of the standard errors stated, which are upper bounds: on average they
// are off by less than one.
TEST(MadeProgram, SparseRecordsGiveTheCountsWithinTheirErrors) {
  double squares = 0;
  size_t blocks = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    MadeProgram program(seed);
    program.walk(200'000);
    for (const size_t depth : {16u, 32u}) {
      const Profile made = made_of(program, 200, depth, 50);
      const Event* event = find_event(made, kBlocks);
      ASSERT_NE(event, nullptr);
      const auto counted = counts_of(made, kBlocks);
      for (const auto& [at, sum] : counted) {
        const double value = static_cast<double>(sum.value) * event->scale;
        const double error = std::sqrt(sum.variance) * event->scale;
        const double truth = static_cast<double>(program.executions(at));
        EXPECT_LE(std::abs(value - truth), 5 * error + 1) << seed << " at " << at;
        squares += (value - truth) * (value - truth) / (error * error);
        ++blocks;
      }
      const Event* calls = find_event(made, kCalls);
      if (calls == nullptr) continue;
      for (const auto& [at, sum] : counts_of(made, kCalls)) {
        const double value = static_cast<double>(sum.value) * calls->scale;
        const double error = std::sqrt(sum.variance) * calls->scale;
        EXPECT_LE(std::abs(value - static_cast<double>(program.calls(at))), 5 * error + 1)
            << seed << " at " << at;
      }
    }
  }
  ASSERT_GT(blocks, 500u);
  EXPECT_LT(std::sqrt(squares / static_cast<double>(blocks)), 1.0);
}

}  // namespace

}  // namespace culprit
