#include "simulate/machine/zeroed_array.h"

#include <gtest/gtest.h>

namespace culprit::simulate {
namespace {

TEST(ZeroedArray, IsZeroInMemoryThatWasUsedBefore) {
  for (const size_t count : {1U, 100U, 16'384U, 16'385U, 70'001U, 1'000'000U}) {
    for (int round = 0; round < 3; ++round) {
      ZeroedArray<uint32_t> values(count);
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(values[i], 0U) << i << " of " << count;
      for (size_t i = 0; i < count; ++i) values[i] = 7;
    }
  }
}

}  // namespace
}  // namespace culprit::simulate
