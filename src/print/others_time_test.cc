#include "print/others_time.h"

#include <gtest/gtest.h>

#include "attribute/test_profile.h"

namespace culprit {
namespace {

/// mill ran for `wall_ms` on 2 CPUs, while others had `others_ms` of them.
std::string describe(int64_t wall_ms, int64_t others_ms) {
  TestProfile test = make_test_profile();
  Run& run = test.profile.runs.front();
  run.duration_ns = wall_ms * 1'000'000;
  run.others.other_programs_ns = others_ms * 1'000'000;
  run.others.stolen_ns = 0;
  return describe_others(test.profile);
}

TEST(DescribeOthers, SaysHowManyCpusTheyHad) {
  EXPECT_NE(describe(200, 100).find("others kept 0.5 of 2 CPUs busy"), std::string::npos);
  EXPECT_EQ(describe(200, 39), "");  // below a tenth
}

TEST(DescribeOthers, SaysNothingOfLessThanTicksTell) {
  EXPECT_EQ(describe(3, 16), "");
  EXPECT_EQ(describe(99, 90), "");
}

TEST(DescribeOthers, NeverSaysMoreThanThereIs) {
  EXPECT_NE(describe(100, 210).find("2.0 of 2 CPUs"), std::string::npos);
}

}  // namespace
}  // namespace culprit
