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

/// Event 0 is counted, event 1 sampled; the second image has the sampled one alone.
TEST(GroupHistograms, ColumnsHaveWhatTheirEventsHave) {
  const auto row = [](uint32_t image, uint64_t offset, uint32_t event, uint64_t samples,
                      uint64_t value) {
    return HistogramRow{
        ContextId(0u), {ImageId(image), FileOffset(offset)}, {EventId(event), samples, value, 0}};
  };
  const std::vector<Histogram> grouped = group_histograms(
      {row(0, 5, 0, 0, 70), row(0, 9, 0, 0, 80), row(0, 9, 1, 2, 200), row(1, 3, 1, 1, 100)});
  ASSERT_EQ(grouped.size(), 2u);
  const std::vector<EventColumn> both = {{EventId(0u), {}, {70, 80}, {}},
                                         {EventId(1u), {0, 2}, {0, 200}, {}}};
  EXPECT_EQ(grouped[0].columns, both);
  EXPECT_EQ(grouped[0].columns[0].samples_at(1), 0u);
  const std::vector<EventColumn> one = {{EventId(1u), {1}, {100}, {}}};
  EXPECT_EQ(grouped[1].columns, one);
  EXPECT_EQ(grouped[1].offsets, std::vector{FileOffset(3)});
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

TEST(MergeCounts, AddsAccessesOfOneSource) {
  Profile profile;
  const auto add = [&](uint64_t source, uint64_t cycles) {
    profile.sampled_accesses.push_back(
        {ContextId(0u), EventId(0u), {}, {}, source, 1, 1, cycles, cycles * cycles, 0});
  };
  add(8, 4);
  add(2, 30);
  add(8, 6);
  merge_counts(profile);
  const SampledAccess two{ContextId(0u), EventId(0u), {}, {}, 8, 2, 2, 10, 52, 0};
  ASSERT_EQ(profile.sampled_accesses.size(), 2u);
  EXPECT_TRUE(profile.sampled_accesses[1] == two);
}

}  // namespace
}  // namespace culprit
