#include "locality/sample_errors.h"

#include <gtest/gtest.h>
#include <vector>

#include "locality/use.h"

namespace culprit {
namespace {

constexpr SetSampling kOneIn16{16, 4};

// By hand: the groups' values less their mean of 16,200 are -200, -1000, 1400 and -200: squares
// 3,040,000, of three degrees of freedom. The sum's variance is 4 x 1,013,333 x 15/16 = 3,800,000,
// its root 1,949, and t(3) is 3.182.
TEST(SampleErrors, OfASumAreStudentsIntervalOfItsGroups) {
  const std::vector<uint64_t> groups = {16'000, 15'200, 17'600, 16'000};
  const SampleError error = estimate_sum_error(groups, kOneIn16);
  EXPECT_FALSE(error.is_exact);
  ASSERT_TRUE(error.half_width);
  EXPECT_NEAR(*error.half_width, 6203, 2);
}

// 4 x 160 of weight 16 are 40 events: if each was in the sample by itself, the variance of their
// number is 40 x 15/16 and that of the sum 256 times as much: 1.96 x root(9600) = 192.
TEST(SampleErrors, AreAtLeastThoseOfEventsByThemselves) {
  const std::vector<uint64_t> groups = {160, 160, 160, 160};
  EXPECT_NEAR(*estimate_sum_error(groups, kOneIn16).half_width, 192, 0.1);
}

TEST(SampleErrors, AreNotKnownOfWhatTooFewSetsHaveSeen) {
  const std::vector<uint64_t> three = {160, 0, 160, 160};
  EXPECT_FALSE(estimate_sum_error(three, kOneIn16).half_width);
  EXPECT_FALSE(estimate_sum_error({}, kOneIn16).half_width);
  EXPECT_FALSE(estimate_sum_error({}, kOneIn16).is_exact);
  EXPECT_TRUE(estimate_sum_error(three, {}).is_exact);  // all sets were simulated
  EXPECT_EQ(*estimate_sum_error(three, {}).half_width, 0);
}

// Lines of which some have 8 bytes used and some 64: residuals of the mean use of 36 bytes are
// 100 x (8 - 36) and so on: -2800, 2800, -2800, 2800, squares 31,360,000 / 3 = 10,453,333; the
// variance 4 x that x 15/16, its root 6261, times 3.182, of 400 lines: 49.8 bytes.
TEST(SampleErrors, OfARatioFollowItsResiduals) {
  const std::vector<uint64_t> bytes = {800, 6400, 800, 6400};
  const std::vector<uint64_t> lines = {100, 100, 100, 100};
  const SampleError error = estimate_ratio_error(bytes, lines, lines, 36, 400, kOneIn16);
  EXPECT_NEAR(*error.half_width, 49.8, 0.1);
}

// Where all lines are alike, 25 of them leave room for 3 in 25 that are not.
TEST(SampleErrors, OfARatioThatNeverDiffersAreByTheRuleOfThree) {
  const std::vector<uint64_t> bytes = {800, 800, 800, 800};
  const std::vector<uint64_t> lines = {100, 100, 100, 100};
  const SampleError error = estimate_ratio_error(bytes, lines, lines, 8, 400, kOneIn16);
  EXPECT_NEAR(*error.half_width, 8 * 3.0 / 25, 1e-9);
}

// In each of four groups of weight 16 100 lines of 64 bytes were brought in, and 6,400 bytes of
// 25,600 were used again: as many as are in 100 lines, of which 6.25 were seen. 1.96 x root(6,400 x
// 64 x 15) = 4,859 bytes of 25,600.
TEST(SampleErrors, OfTemporalUseAreThoseOfLinesThatAreUsedAgain) {
  LineUse use{.lines = 400, .bytes_touched = 25'600, .bytes_accessed = 32'000};
  use.groups.assign(4, {.lines = 100, .bytes_touched = 6'400, .bytes_accessed = 8'000});
  Caches caches;
  caches.line_bytes = 64;
  caches.sampling = kOneIn16;
  EXPECT_NEAR(*estimate_temporal_error(use, caches).half_width, 4'859.0 / 25'600, 1e-4);
  caches.sampling = {};
  EXPECT_EQ(*estimate_temporal_error(use, caches).half_width, 0);
}

TEST(SampleErrors, ReadAsNumbersWithTheDigitsThatTheyAllow) {
  EXPECT_EQ(format_estimate(37.21, {true, 0}, 1, " %"), "37.2 %");
  EXPECT_EQ(format_estimate(37.21, {false, 3.2}, 1, " %"), "37±3 %");
  EXPECT_EQ(format_estimate(37.21, {false, 0.31}, 1, " %"), "37.2±0.3 %");
  EXPECT_EQ(format_estimate(37.21, {false, std::nullopt}, 1, " %"), "37.2 %*");
  EXPECT_EQ(format_estimate(37.21, {false, 0.02}, 1, " %"), "37.2 %");
  EXPECT_EQ(format_estimate(0.204, {false, 0.031}, 2), "0.20±0.03");
}

}  // namespace
}  // namespace culprit
