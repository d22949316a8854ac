#include "model/merge.h"

#include <algorithm>
#include <limits>

#include "model/random_profile.h"

namespace culprit {
namespace {

const std::vector<Event> kSampled = {{{}, Unit::ns, Provenance::sampled, {}, {}, 1000, 1}};
const std::vector<Event> kCounted = {{{}, Unit::events, Provenance::counted, {}, {}, 0, 1}};

Histogram one_cell(uint64_t offset, uint64_t samples, uint64_t value, double variance = 0) {
  Histogram histogram{
      ContextId(0u), ImageId(0u), {FileOffset(offset)}, {{EventId(0u), {samples}, {value}, {}}}};
  if (variance != 0) histogram.columns[0].variance = {variance};
  return histogram;
}

TEST(MergeHistograms, AddsCellsOfOnePlace) {
  const auto merged =
      merge_histograms({one_cell(9, 1, 10), one_cell(5, 2, 20), one_cell(9, 3, 30)}, kSampled);
  ASSERT_EQ(merged.size(), 1u);
  EXPECT_EQ(merged[0].offsets, (std::vector{FileOffset(5), FileOffset(9)}));
  EXPECT_EQ(merged[0].columns[0].samples, (std::vector<uint64_t>{2, 4}));
  EXPECT_EQ(merged[0].columns[0].value, (std::vector<uint64_t>{20, 40}));
  EXPECT_TRUE(merged[0].columns[0].variance.empty());
}

TEST(MergeHistograms, AddsVariances) {
  const auto merged = merge_histograms({one_cell(1, 1, 10, 2.5), one_cell(1, 1, 10, 4)}, kSampled);
  EXPECT_EQ(merged[0].columns[0].variance, std::vector<double>{6.5});
}

TEST(MergeHistograms, AnUnsaidVarianceIsPoissonsForSamplesAndNoneForCounts) {
  const std::vector<Histogram> both = {one_cell(1, 4, 400, 5), one_cell(1, 4, 400)};
  // 4 samples of 100 each: variance 4 x 100^2 = 40000.
  EXPECT_EQ(merge_histograms(both, kSampled)[0].columns[0].variance, std::vector<double>{40005});
  EXPECT_EQ(merge_histograms(both, kCounted)[0].columns[0].variance, std::vector<double>{5});
}

TEST(MergeHistograms, LeavesOutWhatIsZero) {
  EXPECT_TRUE(merge_histograms({one_cell(1, 0, 0)}, kSampled).empty());
}

TEST(MergeHistograms, SaturatesInsteadOfWrapping) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  const auto merged = merge_histograms({one_cell(1, 1, kMax), one_cell(1, 1, 5)}, kCounted);
  EXPECT_EQ(merged[0].columns[0].value[0], kMax);
}

TEST(MergeCounts, DoesNotDependOnTheOrderTheyCameIn) {
  RandomProfile random(11);
  for (int i = 0; i < 3; ++i) random.grow();
  Profile forward = random.profile();
  Profile backward = random.profile();
  visit_counts([](std::string_view, auto& rows) { std::reverse(rows.begin(), rows.end()); },
               backward);
  merge_counts(forward);
  merge_counts(backward);
  expect_equal(forward, backward);
  merge_counts(backward);
  expect_equal(forward, backward);  // and is stable
}

TEST(MergeCounts, PutsMemorySamplesInTimeOrderAndKeepsEach) {
  Profile profile;
  for (const int64_t time : {3, 1, 3, 2}) {
    profile.memory_samples.push_back({{}, {}, {}, {}, {}, 0, 0, time});
  }
  merge_counts(profile);
  std::vector<int64_t> times;
  for (const MemorySample& sample : profile.memory_samples) times.push_back(sample.time_ns);
  EXPECT_EQ(times, (std::vector<int64_t>{1, 2, 3, 3}));
}

}  // namespace
}  // namespace culprit
