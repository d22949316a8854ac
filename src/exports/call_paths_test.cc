#include "exports/call_paths.h"

#include <gtest/gtest.h>
#include <limits>
#include <map>

#include "attribute/test_profile.h"
#include "model/counts.h"
#include "model/random_profile.h"

namespace culprit {

namespace {

constexpr EventId kClock(0u);

/// Values of the first event, by has_stack.
std::map<bool, uint64_t> values(const Profile& profile) {
  std::map<bool, uint64_t> sums;
  for_each_call_path(profile, [&](const CallPath& path) {
    EXPECT_FALSE(path.frames.empty());
    sums[path.has_stack] += path.sums[0].value;
  });
  return sums;
}

TEST(CallPaths, SamplesWithoutAStackAreTheRest) {
  TestProfile test = make_test_profile();
  add_test_stacks(test);
  // 1,000 samples of 1 ms; stacks have 50 + 100 + 250 + 150 of them.
  const std::map<bool, uint64_t> expected = {{true, 550'000'000}, {false, 450'000'000}};
  EXPECT_EQ(values(test.profile), expected);
}

TEST(CallPaths, LeafComesFirst) {
  TestProfile test = make_test_profile();
  add_test_stacks(test);
  size_t seen = 0;
  for_each_call_path(test.profile, [&](const CallPath& path) {
    if (!path.has_stack) return;
    ++seen;
    ASSERT_EQ(path.frames.size(), 2u);
    EXPECT_EQ(path.frames[1].offset, FileOffset(0x300));
  });
  EXPECT_EQ(seen, 4u);
}

TEST(CallPaths, StacksThatClaimMoreThanTheirAddressHasAreCut) {
  TestProfile test = make_test_profile();
  add_test_stacks(test);
  // Context 0 has 50 samples at 0x220; the stack now claims 70.
  test.profile.stack_counts[0].cell = {kClock, 70, 70'000'000, 0};
  const std::map<bool, uint64_t> expected = {{true, 550'000'000}, {false, 450'000'000}};
  EXPECT_EQ(values(test.profile), expected);
}

TEST(CallPaths, TotalsAreTheHistogramsWhateverTheProfile) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    RandomProfile random(seed);
    random.grow();
    const Profile& profile = random.profile();
    Sums got(profile.events.size());
    for_each_call_path(profile, [&](const CallPath& path) { add_sums(got, path.sums); });
    const Sums want = total_sums(profile);
    for (size_t event = 0; event < want.size(); ++event) {
      EXPECT_EQ(got[event].samples, want[event].samples);
      EXPECT_EQ(got[event].value, want[event].value);
    }
  }
}

TEST(Scaler, FractionsAddUpToTheRoundedTotal) {
  TestProfile test = make_test_profile();
  test.profile.events[0].scale = 0.3;
  Scaler scaler(test.profile);
  uint64_t sum = 0;
  for (int i = 0; i < 10; ++i) sum += scaler.next(0, 1);
  EXPECT_EQ(sum, 3u);  // each alone would round to 0
}

TEST(Scaler, TakesScalesThatAreNoNumbers) {
  TestProfile test = make_test_profile();
  for (const double scale : {-1.0, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    test.profile.events[0].scale = scale;
    EXPECT_EQ(Scaler(test.profile).next(0, 5), 0u);
    EXPECT_EQ(scaled(test.profile.events[0], 5), 0u);
  }
}

}  // namespace

}  // namespace culprit
