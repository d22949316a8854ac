#include "model/restriction.h"

#include <gtest/gtest.h>

#include "model/counts.h"
#include "model/merge.h"

namespace culprit {
namespace {

/// Each of three contexts did ten times as much as the one before.
Profile of_three() {
  Profile profile;
  profile.contexts.resize(3);
  profile.events.resize(1);
  profile.images.resize(1);
  std::vector<HistogramRow> rows;
  uint64_t value = 1;
  for (uint32_t who = 0; who < 3; ++who, value *= 10) {
    rows.push_back(
        {ContextId(who), {ImageId(0u), FileOffset(16)}, {EventId(0u), 0, value, 0}, ObjectId()});
    profile.counts.push_back({ContextId(who), EventId(0u), 0, 0, value, 0, 0});
  }
  profile.histograms = make_histograms(rows, profile.events);
  return profile;
}

TEST(Restriction, LeavesWhatIsKept) {
  Profile profile = of_three();
  restrict_counts(profile, {true, true, true});
  EXPECT_EQ(profile.histograms, of_three().histograms);
  EXPECT_EQ(profile.counts, of_three().counts);
  restrict_counts(profile, {true, false, true});
  EXPECT_EQ(total_sums(profile)[0].value, 101u);
  ASSERT_EQ(profile.counts.size(), 2u);
  EXPECT_EQ(profile.counts[1].context, ContextId(2u));
}

TEST(Restriction, ContextsThatAreNotThereAreNotKept) {
  Profile profile = of_three();
  restrict_counts(profile, {false, true});
  EXPECT_EQ(total_sums(profile)[0].value, 10u);
}

TEST(Restriction, EdgesHaveTwoEnds) {
  Profile profile = of_three();
  const auto edge = [](uint32_t from, uint32_t to) {
    Edge one;
    one.from_context = ContextId(from);
    one.to_context = ContextId(to);
    return one;
  };
  profile.edges = {edge(0, 0), edge(0, 1), edge(1, 0), edge(0, 2)};
  restrict_counts(profile, {false, true, false});
  EXPECT_EQ(profile.edges, (std::vector{edge(0, 1), edge(1, 0)}));
}

}  // namespace
}  // namespace culprit
