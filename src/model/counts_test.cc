#include "model/counts.h"

#include <gtest/gtest.h>

#include "model/merge.h"

namespace culprit {
namespace {

constexpr ObjectId kTable(uint32_t{1});
constexpr ObjectId kKeys(uint32_t{2});  // a field of the table

/// One instruction at offset 16 that accessed four things, 1, 2, 4 and 8 times; another at offset
/// 20 that accesses no memory, 16 times; and one at 24 of which nothing was recorded, 32 times.
Profile with_objects() {
  Profile profile;
  profile.contexts.resize(1);
  profile.events.resize(1);
  profile.images.resize(1);
  profile.objects.resize(3);
  profile.objects[kKeys.value].parent = kTable;
  std::vector<HistogramRow> rows;
  uint64_t value = 1;
  const auto add = [&](uint64_t offset, ObjectId object) {
    rows.push_back(
        {ContextId(0u), {ImageId(0u), FileOffset(offset)}, {EventId(0u), 0, value, 0}, object});
    value *= 2;
  };
  for (const ObjectId object : {kUnknownObject, kTable, kKeys, ObjectId(0u)}) add(16, object);
  add(20, kNoAccess);
  add(24, ObjectId());
  profile.histograms = make_histograms(rows, profile.events);
  return profile;
}

TEST(HistogramsByObject, AddUpToWhatEachInstructionDid) {
  const Profile profile = with_objects();
  ASSERT_EQ(profile.histograms.size(), 1u);
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

}  // namespace
}  // namespace culprit
