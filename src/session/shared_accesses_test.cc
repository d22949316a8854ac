#include "session/shared_accesses.h"

#include <gtest/gtest.h>

#include "attribute/test_profile.h"

namespace culprit {
namespace {

TestProfile made_profile() {
  TestProfile test = make_test_profile();
  Profile& profile = test.profile;
  const auto add = [&](const char* name) {
    Event event;
    event.name = profile.strings.intern(name);
    event.engine = profile.strings.intern("simulate");
    event.provenance = Provenance::sampled;
    profile.events.push_back(event);
    Histogram& histogram = profile.histograms[0];
    const size_t rows = histogram.offsets.size();
    histogram.columns.push_back({EventId(profile.events.size() - 1), std::vector<uint64_t>(rows, 0),
                                 std::vector<uint64_t>(rows, 7), std::vector<double>(rows, 4.0)});
  };
  add("L1-dcache-loads");
  add("L1-dcache-load-misses");
  profile.histograms[0].objects.assign(profile.histograms[0].offsets.size(), kUnknownObject);
  return test;
}

TEST(SharedAccesses, AreExactWhereObjectsAreNotToldApartAndMissesStayEstimates) {
  const TestProfile test = made_profile();
  const std::optional<Profile> exact = with_exact_accesses(test.profile);
  ASSERT_TRUE(exact);
  const size_t last = exact->events.size() - 1;
  EXPECT_EQ(exact->events[last - 1].provenance, Provenance::counted);
  EXPECT_EQ(exact->events[last].provenance, Provenance::sampled);
  const std::vector<EventColumn>& columns = exact->histograms[0].columns;
  EXPECT_TRUE(columns[columns.size() - 2].variance.empty());
  EXPECT_EQ(columns[columns.size() - 2].value[0], 7u);
  EXPECT_EQ(columns.back().variance[0], 4.0);
}

TEST(SharedAccesses, ThereAreNoneWithoutObjects) {
  TestProfile test = made_profile();
  test.profile.histograms[0].objects.clear();
  EXPECT_FALSE(with_exact_accesses(test.profile));
}

}  // namespace
}  // namespace culprit
