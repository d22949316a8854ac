#include "daemon/missing_rights.h"

#include <gtest/gtest.h>
#include <linux/capability.h>

namespace culprit {
namespace {

constexpr uint64_t bit(int capability) {
  return uint64_t{1} << capability;
}

TEST(MissingRights, EachIsASentence) {
  const uint64_t all = bit(CAP_SYSLOG) | bit(CAP_SYS_PTRACE) | bit(CAP_CHECKPOINT_RESTORE) |
                       bit(CAP_DAC_READ_SEARCH);
  EXPECT_TRUE(explain_missing_rights(all).empty());
  EXPECT_EQ(explain_missing_rights(0).size(), 4u);
  const auto one = explain_missing_rights(all & ~bit(CAP_SYSLOG));
  ASSERT_EQ(one.size(), 1u);
  EXPECT_TRUE(one[0].starts_with("without CAP_SYSLOG: ")) << one[0];
}

}  // namespace
}  // namespace culprit
