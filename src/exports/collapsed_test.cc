#include <gtest/gtest.h>

#include "attribute/test_profile.h"
#include "exports/exports.h"

namespace culprit {

namespace {

TEST(Collapsed, FoldsStacksOutermostFirst) {
  TestProfile test = make_test_profile();
  add_test_stacks(test);
  const std::string outer = "mill;" + std::string(kLongName) + ";grind";
  const auto folded = export_collapsed(test.profile, test.lookup());
  ASSERT_TRUE(folded);
  EXPECT_EQ(*folded, "mill;[no stack] 350000000\n" + outer + " 400000000\n" + outer +
                         ";weigh 150000000\nsort;[no stack] 100000000\n");
}

TEST(Collapsed, FoldsFlatLocationsWhereThereAreNoStacks) {
  const TestProfile test = make_test_profile();
  const auto folded = export_collapsed(test.profile, test.lookup());
  ASSERT_TRUE(folded);
  EXPECT_EQ(*folded,
            "mill;clear_page 120000000\nmill;grind 500000000\n"
            "mill;grind;weigh 150000000\nmill;libc.so.6+0x5040 80000000\nmill;" +
                std::string(kLongName) + " 50000000\nsort;grind 100000000\n");
}

}  // namespace

}  // namespace culprit
