#include "simulate/counting/region.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "simulate/counting/call_stack.h"
#include "simulate/counting/translation.h"

namespace culprit::counting {
namespace {

using counts_file::ControlFlow;

/// A block at `start` that ends at `end` in a branch.
BlockFacts block(uint64_t start, uint64_t end, ControlFlow branch, bool enters = false) {
  BlockFacts facts;
  facts.start = start;
  facts.end = end;
  facts.branch = branch;
  facts.enters_region = enters;
  return facts;
}

const BlockFacts kCallerCalls = block(0x100, 0x110, ControlFlow::call);
const BlockFacts kCallerGoesOn = block(0x110, 0x120, ControlFlow::jump);
const BlockFacts kFunctionCalls = block(0x200, 0x210, ControlFlow::call, true);  // the region
const BlockFacts kFunctionReturns = block(0x210, 0x220, ControlFlow::returns);
const BlockFacts kHelperReturns = block(0x300, 0x310, ControlFlow::returns);
const BlockFacts kStub = block(0x400, 0x410, ControlFlow::indirect_jump);

std::vector<bool> walk(std::initializer_list<const BlockFacts*> blocks) {
  CallStack calls;
  RegionWatch watch;
  const BlockFacts none;
  const BlockFacts* before = &none;
  std::vector<bool> inside;
  for (const BlockFacts* one : blocks) {
    const size_t least = calls.follow(*before, *one);
    inside.push_back(watch.step(*one, least, calls.height()));
    before = one;
  }
  return inside;
}

TEST(RegionWatch, IsInsideFromTheCallToItsReturnWithWhatIsCalled) {
  EXPECT_EQ(
      walk({&kCallerCalls, &kFunctionCalls, &kHelperReturns, &kFunctionReturns, &kCallerGoesOn}),
      (std::vector<bool>{false, true, true, true, false}));
}

TEST(RegionWatch, RecursionEndsWithTheOutermostCall) {
  EXPECT_EQ(walk({&kCallerCalls, &kFunctionCalls, &kFunctionCalls, &kHelperReturns,
                  &kFunctionReturns, &kFunctionReturns, &kCallerGoesOn}),
            (std::vector<bool>{false, true, true, true, true, true, false}));
}

TEST(RegionWatch, StubsAndTailCallsBeforeTheFunctionAreOutside) {
  EXPECT_EQ(walk({&kCallerCalls, &kStub, &kFunctionCalls, &kHelperReturns, &kFunctionReturns,
                  &kCallerGoesOn}),
            (std::vector<bool>{false, false, true, true, true, false}));
}

// longjmp from the helper to main: it is noticed when main's caller is returned to.
TEST(RegionWatch, JumpsOverFramesEndWithTheNextReturnBelow) {
  const BlockFacts start_calls = block(0x500, 0x510, ControlFlow::call);
  const BlockFacts start_goes_on = block(0x510, 0x520, ControlFlow::jump);
  const BlockFacts longjmp = block(0x300, 0x310, ControlFlow::indirect_jump);
  const BlockFacts main_returns = block(0x110, 0x120, ControlFlow::returns);
  EXPECT_EQ(
      walk({&start_calls, &kCallerCalls, &kFunctionCalls, &longjmp, &main_returns, &start_goes_on}),
      (std::vector<bool>{false, false, true, true, true, false}));
}

TEST(RegionFile, GivesBackWhatWasWritten) {
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const std::string path = region_file_path(folder->path());
  ASSERT_TRUE(write_region_file(path, {"/a b/c,d", {0x1234, 0xdeadbeef00}}));
  const Result<RegionPlaces> region = read_region_file(path);
  ASSERT_TRUE(region) << region.error().message;
  EXPECT_TRUE(region->holds("/a b/c,d", 0x1234));
  EXPECT_TRUE(region->holds("/a b/c,d", 0xdeadbeef00));
  EXPECT_FALSE(region->holds("/a b/c,d", 0x1235));
  EXPECT_FALSE(region->holds("/a", 0x1234));
}

}  // namespace
}  // namespace culprit::counting
