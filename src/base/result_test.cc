#include "base/result.h"

#include <cerrno>
#include <gtest/gtest.h>
#include <memory>

namespace culprit {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return Error{"odd"};
  return value / 2;
}

Result<int> quarter(int value) {
  ASSIGN_OR_RETURN(const int once, half(value));
  return half(once);
}

Result<void> must_be_even(int value) {
  RETURN_IF_ERROR(half(value));
  return {};
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(*half(8), 4);
  ASSERT_FALSE(half(7));
  EXPECT_EQ(half(7).error().message, "odd");
  EXPECT_EQ(half(7).value_or(-1), -1);
}

TEST(Result, MacrosPassErrorsOn) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_TRUE(must_be_even(2));
  EXPECT_EQ(must_be_even(3).error().message, "odd");
}

TEST(Result, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 5);
}

TEST(ResultDeath, ReadingWhatIsNotThereAborts) {
  EXPECT_DEATH(half(7).value(), "");
  EXPECT_DEATH(static_cast<void>(half(8).error()), "");
  EXPECT_DEATH(static_cast<void>(must_be_even(2).error()), "");
}

TEST(CheckDeath, NamesTheCondition) {
  EXPECT_DEATH(CHECK(1 + 1 == 3), "result_test.cc.*1 \\+ 1 == 3");
}

TEST(ErrnoError, NamesTheReason) {
  EXPECT_EQ(errno_error("cannot open 'x'", ENOENT).message,
            "cannot open 'x': No such file or directory");
}

}  // namespace
}  // namespace culprit
