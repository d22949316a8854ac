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

uint64_t sum_of_samples(const Profile& profile) {
  uint64_t sum = 0;
  for (const Histogram& histogram : profile.histograms) {
    for (const EventColumn& column : histogram.columns) {
      for (const uint64_t samples : column.samples) sum += samples;
    }
  }
  return sum;
}

TEST(MergeProfiles, IntoNothingGivesTheSame) {
  RandomProfile random(3);
  random.grow();
  merge_counts(random.profile());
  Profile into;
  merge_profiles(into, random.profile());
  EXPECT_EQ(into.machine, random.profile().machine);
  EXPECT_EQ(into.environment, random.profile().environment);
  EXPECT_EQ(into.runs.size(), random.profile().runs.size());
  EXPECT_EQ(sum_of_samples(into), sum_of_samples(random.profile()));
  EXPECT_EQ(into.ledger, random.profile().ledger);
}

TEST(MergeProfiles, AddsTheCountsOfBoth) {
  RandomProfile a(1);
  RandomProfile b(2);
  for (int i = 0; i < 3; ++i) {
    a.grow();
    b.grow();
  }
  Profile into = a.profile();
  merge_profiles(into, b.profile());
  EXPECT_EQ(sum_of_samples(into), sum_of_samples(a.profile()) + sum_of_samples(b.profile()));
  EXPECT_EQ(into.runs.size(), 6u);
  EXPECT_EQ(into.memory_samples.size(),
            a.profile().memory_samples.size() + b.profile().memory_samples.size());
  EXPECT_EQ(into.ledger.amount(ledger::kLostSamples),
            a.profile().ledger.amount(ledger::kLostSamples) +
                b.profile().ledger.amount(ledger::kLostSamples));
}

TEST(MergeProfiles, WithItselfDoublesEveryCount) {
  Profile profile;
  profile.runs.emplace_back();
  profile.contexts.emplace_back();
  profile.events = kSampled;
  profile.images.emplace_back();
  profile.histograms = {one_cell(5, 2, 20)};
  merge_profiles(profile, profile);
  EXPECT_EQ(profile.runs.size(), 2u);
  EXPECT_EQ(profile.contexts.size(), 1u);
  EXPECT_EQ(profile.histograms, std::vector<Histogram>{one_cell(5, 4, 40)});
}

Profile with_image(const Image& image, const std::string& path) {
  Profile profile;
  profile.runs.emplace_back();
  profile.images.push_back(image);
  profile.images[0].path = profile.strings.intern(path);
  return profile;
}

size_t images_after_merging(const Profile& a, const Profile& b) {
  Profile into = a;
  merge_profiles(into, b);
  return into.images.size();
}

TEST(MergeProfiles, ImagesAreTheSameByIdentityNotByName) {
  Image image;
  image.kind = ImageKind::library;
  image.inode = 5;
  EXPECT_EQ(images_after_merging(with_image(image, "/a"), with_image(image, "/a")), 1u);
  EXPECT_EQ(images_after_merging(with_image(image, "/a"), with_image(image, "/b")), 2u);
  Image newer = image;
  newer.mtime_ns = 1;
  EXPECT_EQ(images_after_merging(with_image(image, "/a"), with_image(newer, "/a")), 2u);
  image.build_id = newer.build_id = "ab12";
  EXPECT_EQ(images_after_merging(with_image(image, "/a"), with_image(newer, "/moved")), 1u);
  newer.build_id = "ab13";
  EXPECT_EQ(images_after_merging(with_image(image, "/a"), with_image(newer, "/a")), 2u);
}

TEST(MergeProfiles, JitCodeIsTheSameByContent) {
  Image code;
  code.kind = ImageKind::jit;
  code.content_hash = "1";
  Image other = code;
  other.born_ns = 99;
  EXPECT_EQ(images_after_merging(with_image(code, "[jit] f"), with_image(other, "[jit] f")), 1u);
  other.content_hash = "2";
  EXPECT_EQ(images_after_merging(with_image(code, "[jit] f"), with_image(other, "[jit] f")), 2u);
}

TEST(MergeProfiles, KernelsWithoutBuildIdAreToldApartByRelease) {
  Image kernel;
  kernel.kind = ImageKind::kernel;
  Profile a = with_image(kernel, "[kernel]");
  Profile b = a;
  EXPECT_EQ(images_after_merging(a, b), 1u);
  b.machine.kernel_release = "6.2";
  EXPECT_EQ(images_after_merging(a, b), 2u);
}

TEST(MergeProfiles, SaysWhenMachinesDiffer) {
  Profile a = with_image({}, "/a");
  Profile b = a;
  b.machine.cpu_model = "other";
  merge_profiles(a, b);
  ASSERT_EQ(a.ledger.notes().size(), 1u);
  EXPECT_EQ(a.ledger.notes()[0], "profiles of different machines were merged");
}

}  // namespace
}  // namespace culprit
