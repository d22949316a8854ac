#include "model/restriction.h"

#include <gtest/gtest.h>

#include "model/counts.h"
#include "model/merge.h"

namespace culprit {
namespace {

constexpr ObjectId kTable(uint32_t{1});
constexpr ObjectId kKeys(uint32_t{2});  // a field of the table

/// One instruction at offset 16 that accessed four things, 1, 2, 4 and 8 times; another at offset
/// 20 that accesses no memory, 16 times; and one at 24 of which nothing was recorded, 32 times.
/// All in two contexts: thread 0 in the loop, which is in the parallel region, and thread 1
/// outside of both, which did ten times as much.
Profile made() {
  Profile profile;
  profile.threads.resize(2);
  profile.regions.resize(2);
  profile.regions[1].parent = RegionId(0u);
  profile.contexts.resize(2);
  profile.contexts[0].thread = ThreadId(0u);
  profile.contexts[0].region = RegionId(1u);
  profile.contexts[1].thread = ThreadId(1u);
  profile.events.resize(1);
  profile.images.resize(1);
  profile.objects.resize(3);
  profile.objects[kKeys.value].parent = kTable;
  std::vector<HistogramRow> rows;
  for (const uint32_t who : {0u, 1u}) {
    uint64_t value = who == 0 ? 1 : 10;
    const auto add = [&](uint64_t offset, ObjectId object) {
      rows.push_back(
          {ContextId(who), {ImageId(0u), FileOffset(offset)}, {EventId(0u), 0, value, 0}, object});
      value *= 2;
    };
    for (const ObjectId object : {kUnknownObject, kTable, kKeys, ObjectId(0u)}) add(16, object);
    add(20, kNoAccess);
    add(24, ObjectId());
  }
  profile.histograms = make_histograms(rows, profile.events);
  profile.counts = {{ContextId(0u), EventId(0u), 0, 0, 99, 0, 0}};
  return profile;
}

uint64_t total(const Restriction& restriction) {
  Profile profile = made();
  restrict_counts(profile, restriction);
  return total_sums(profile)[0].value;
}

TEST(HistogramsByObject, AddUpToWhatEachInstructionDid) {
  const Profile profile = made();
  ASSERT_EQ(profile.histograms.size(), 2u);
  const Histogram& first = profile.histograms[0];
  EXPECT_EQ(first.offsets, (std::vector{FileOffset(16), FileOffset(16), FileOffset(16),
                                        FileOffset(20), FileOffset(24)}));
  EXPECT_EQ(first.objects, (std::vector{kUnknownObject, kTable, kKeys, kNoAccess, ObjectId()}));
  EXPECT_EQ(first.columns[0].value, (std::vector<uint64_t>{1 + 8, 2, 4, 16, 32}));
  uint64_t of_instruction = 0;
  for_each_count_within(
      profile, first, FileOffset(16), FileOffset(17),
      [&](const Location&, size_t, const Sum& sum) { of_instruction += sum.value; });
  EXPECT_EQ(of_instruction, 15u);
}

TEST(Restriction, NothingAskedLeavesEverything) {
  Profile profile = made();
  restrict_counts(profile, {});
  EXPECT_EQ(profile.histograms, made().histograms);
  EXPECT_EQ(profile.counts, made().counts);
}

TEST(Restriction, ByObject) {
  EXPECT_EQ(total({.object = kUnknownObject}), 9u * 11);
  EXPECT_EQ(total({.object = kTable}), 6u * 11);  // and its field
  EXPECT_EQ(total({.object = kKeys}), 4u * 11);
  EXPECT_EQ(total({.object = kNoAccess}), 16u * 11);
  EXPECT_EQ(total({.object = ObjectId()}), 32u * 11);  // "not recorded" is no object's
  // The parts are the whole: 63 in the one context, 630 in the other.
  EXPECT_EQ(9u + 6 + 16 + 32, 63u);
  EXPECT_EQ(total({}), 63u * 11);
}

TEST(Restriction, ByThreadAndRegion) {
  EXPECT_EQ(total({.thread = ThreadId(0u)}), 63u);
  EXPECT_EQ(total({.thread = ThreadId(1u)}), 630u);
  EXPECT_EQ(total({.region = RegionId(1u)}), 63u);
  EXPECT_EQ(total({.region = RegionId(0u)}), 63u);  // the loop is in it
  EXPECT_EQ(total({.region = RegionId()}), 630u);   // outside of all
  EXPECT_EQ(total({.thread = ThreadId(1u), .region = RegionId(0u)}), 0u);
  EXPECT_EQ(total({.thread = ThreadId(0u), .object = kTable}), 6u);
}

TEST(Restriction, CountsWithoutObjectsAreOfNone) {
  Profile profile = made();
  restrict_counts(profile, {.object = kTable});
  EXPECT_TRUE(profile.counts.empty());
}

}  // namespace
}  // namespace culprit
