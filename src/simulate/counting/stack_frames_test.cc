#include "simulate/counting/stack_frames.h"

#include <gtest/gtest.h>

namespace culprit::counting {
namespace {

/// The drawing of the header.
TEST(StackFrames, AnAddressIsInTheFrameOfTheInnermostCallThatReachesIt) {
  StackFrames frames(0x1000, 0x10000);
  frames.begin_call(1, 0xf000);
  frames.begin_call(2, 0xee80);
  frames.begin_call(3, 0xed00);
  EXPECT_EQ(frames.find(0xee90), 1U);
  EXPECT_EQ(frames.find(0xed10), 2U);
  EXPECT_EQ(frames.find(0xed00), 2U);
  EXPECT_EQ(frames.find(0xecf0), 3U);
  EXPECT_EQ(frames.find(0x1000), 3U);  // below the stack pointer it is the innermost one's
  EXPECT_EQ(frames.find(0xf000), 0U);  // what the first call's caller has
  frames.end_calls(2);
  EXPECT_EQ(frames.find(0xecf0), 2U);
}

TEST(StackFrames, CallsWhoseFramesAreNotKnownArePassedOver) {
  StackFrames frames(0x1000, 0x10000);
  frames.begin_call(1, 0xf000);
  frames.begin_call(2, 0);
  frames.begin_call(3, 0x7fff0000);  // on another stack
  EXPECT_EQ(frames.find(0xee90), 1U);
}

TEST(StackFrames, WhatWasNotedIsOfOneCall) {
  const objects::FrameLayout layout{7, {}};
  StackFrames frames(0x1000, 0x10000);
  frames.begin_call(1, 0xf000);
  frames.begin_call(2, 0xe000);
  EXPECT_EQ(frames.layout(2), nullptr);
  frames.note_layout(2, layout);
  EXPECT_EQ(frames.layout(2), &layout);
  EXPECT_EQ(frames.offset(2, 0xdff0), -16);
  frames.end_calls(1);
  frames.begin_call(2, 0xe000);
  EXPECT_EQ(frames.layout(2), nullptr);
}

TEST(StackFrames, WhatIsCalledFromTooDeepIsNotKnown) {
  StackFrames frames(0, uint64_t{1} << 40);
  const auto end_of = [](size_t call) { return (uint64_t{1} << 39) - 64 * call; };
  for (size_t call = 1; call <= StackFrames::kMost + 10; ++call) {
    frames.begin_call(call, end_of(call));
  }
  EXPECT_EQ(frames.find(end_of(StackFrames::kMost + 10) - 1), 0U);
  EXPECT_EQ(frames.find(end_of(100) - 1), 100U);
}

TEST(StackFrames, AStackThatIsNoMoreContainsNothing) {
  StackFrames frames(0x1000, 0x2000);
  EXPECT_TRUE(frames.contains(0x1000));
  EXPECT_FALSE(frames.contains(0x2000));
  EXPECT_TRUE(frames.overlaps(0x1ff8, 0x3000));
  EXPECT_FALSE(frames.overlaps(0x2000, 0x3000));
  frames.forget();
  EXPECT_FALSE(frames.contains(0x1000));
}

}  // namespace
}  // namespace culprit::counting
