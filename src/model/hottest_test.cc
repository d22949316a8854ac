#include "model/hottest.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

EventColumn column(uint32_t event, std::vector<uint64_t> values) {
  EventColumn made;
  made.event = EventId(event);
  made.samples.resize(values.size());
  made.value = std::move(values);
  return made;
}

Histogram histogram(uint32_t image, std::vector<uint64_t> offsets,
                    std::vector<EventColumn> columns) {
  Histogram made;
  made.context = ContextId(0u);
  made.image = ImageId(image);
  for (const uint64_t offset : offsets) made.offsets.emplace_back(offset);
  made.columns = std::move(columns);
  return made;
}

/// Of the first event 10, 30, 5 and 40, 5; the second event has a place that the first has not.
Profile make_profile() {
  Profile profile;
  profile.histograms = {
      histogram(0, {1, 2, 3}, {column(0, {10, 30, 5}), column(1, {1, 2, 3})}),
      histogram(1, {8, 9}, {column(0, {40, 5})}),
      histogram(2, {4}, {column(1, {100})}),
  };
  profile.edges.resize(3);
  profile.counts.resize(1);
  return profile;
}

TEST(Hottest, KeepsWholeRowsOfThePlacesWithMost) {
  Profile profile = make_profile();
  EXPECT_EQ(count_places(profile), 6u);
  const HottestPlaces kept = keep_hottest(profile, 2);
  EXPECT_EQ(kept.kept, 2u);
  EXPECT_EQ(kept.left_out, 4u);
  EXPECT_DOUBLE_EQ(kept.share, 70.0 / 90);
  ASSERT_EQ(profile.histograms.size(), 2u);
  EXPECT_EQ(profile.histograms[0].offsets, std::vector<FileOffset>{FileOffset(2)});
  EXPECT_EQ(profile.histograms[0].columns[1].value, std::vector<uint64_t>{2});
  EXPECT_EQ(profile.histograms[1].offsets, std::vector<FileOffset>{FileOffset(8)});
  EXPECT_TRUE(profile.edges.empty());
  EXPECT_EQ(profile.counts.size(), 1u);
}

TEST(Hottest, KeepsNoMoreWherePlacesAreAlike) {
  Profile profile = make_profile();
  const HottestPlaces kept = keep_hottest(profile, 4);
  EXPECT_EQ(kept.kept, 4u);
  EXPECT_EQ(count_places(profile), 4u);
  EXPECT_DOUBLE_EQ(kept.share, 85.0 / 90);
}

TEST(Hottest, KeepsAllWhereThereIsRoom) {
  Profile profile = make_profile();
  const HottestPlaces kept = keep_hottest(profile, 6);
  EXPECT_EQ(kept.kept, 6u);
  EXPECT_EQ(kept.left_out, 0u);
  EXPECT_DOUBLE_EQ(kept.share, 1);
  EXPECT_EQ(profile.histograms.size(), 3u);
}

}  // namespace
}  // namespace culprit
