#include "simulate/counting/call_stack.h"

#include <gtest/gtest.h>
#include <vector>

#include "simulate/counting/translation.h"

namespace culprit::counting {
namespace {

using counts_file::ControlFlow;

/// A block of 16 bytes at `start` that ends in a branch.
BlockFacts block(uint64_t start, ControlFlow branch) {
  BlockFacts facts;
  facts.start = start;
  facts.end = start + 0x10;
  facts.branch = branch;
  return facts;
}

const BlockFacts kMainCalls = block(0x100, ControlFlow::call);
const BlockFacts kMainCallsAgain = block(0x110, ControlFlow::call);
const BlockFacts kMainGoesOn = block(0x120, ControlFlow::jump);
const BlockFacts kParseCalls = block(0x200, ControlFlow::indirect_call);
const BlockFacts kParseCallsItself = block(0x210, ControlFlow::call);
const BlockFacts kParseReturns = block(0x220, ControlFlow::returns);
const BlockFacts kFailJumps = block(0x300, ControlFlow::indirect_jump);
const BlockFacts kFailReturns = block(0x310, ControlFlow::returns);
const BlockFacts kOtherCalls = block(0x400, ControlFlow::call);
const BlockFacts kOtherReturns = block(0x410, ControlFlow::returns);

/// Runs blocks one after the other; of a call, where it puts its return address.
class Thread {
 public:
  void run(const BlockFacts& now, uint64_t slot = 0) {
    least_ = calls_.follow(*before_, now);
    before_ = &now;
    if (slot != 0) calls_.note_slot(slot);
  }
  std::vector<uint64_t> callers() const {
    std::vector<uint64_t> starts;
    for (const CallStack::Call& call : calls_.calls()) starts.push_back(call.from->start);
    return starts;
  }
  size_t least() const { return least_; }
  const CallStack& calls() const { return calls_; }

 private:
  CallStack calls_;
  const BlockFacts none_;
  const BlockFacts* before_ = &none_;
  size_t least_ = 0;
};

using Callers = std::vector<uint64_t>;

TEST(CallStack, CallsPushAndReturnsPop) {
  Thread thread;
  thread.run(kMainCalls, 0xff8);
  thread.run(kParseCalls, 0xfe0);
  EXPECT_EQ(thread.callers(), (Callers{0x100}));
  thread.run(kFailReturns);
  EXPECT_EQ(thread.callers(), (Callers{0x100, 0x200}));
  thread.run(kParseCallsItself, 0xfe0);
  EXPECT_EQ(thread.callers(), (Callers{0x100}));
}

// parse calls fail, which jumps to a function that returns for it.
TEST(CallStack, TailCallsReturnForTheirCaller) {
  Thread thread;
  thread.run(kMainCalls, 0xff8);
  thread.run(kParseCalls, 0xfe0);
  thread.run(kFailJumps);
  thread.run(kOtherReturns);
  EXPECT_EQ(thread.callers(), (Callers{0x100, 0x200}));
  thread.run(kParseCallsItself, 0xfe0);
  EXPECT_EQ(thread.callers(), (Callers{0x100}));
}

// longjmp from fail to main: parse and fail are over when main calls again.
TEST(CallStack, TheNextCallEndsWhatALongjmpLeft) {
  Thread thread;
  thread.run(kOtherCalls, 0x1000);  // main's caller
  for (int round = 0; round < 3; ++round) {
    thread.run(kMainCalls, 0xff8);
    thread.run(kParseCalls, 0xfe0);
    thread.run(kFailJumps);
    EXPECT_EQ(thread.callers(), (Callers{0x400, 0x100, 0x200}));
  }
  thread.run(kMainCallsAgain, 0xff8);
  thread.run(kFailReturns);
  EXPECT_EQ(thread.callers(), (Callers{0x400, 0x110}));
  EXPECT_EQ(thread.least(), 1U);
}

// The unwinder returns to a landing pad in main, where no call came from.
TEST(CallStack, TheNextCallEndsWhatAnExceptionLeft) {
  Thread thread;
  thread.run(kOtherCalls, 0x1000);
  thread.run(kMainCalls, 0xff8);
  thread.run(kParseCalls, 0xfe0);
  thread.run(kFailReturns);
  thread.run(kMainGoesOn);  // the landing pad
  EXPECT_EQ(thread.callers(), (Callers{0x400, 0x100, 0x200}));
  thread.run(kMainCallsAgain, 0xff8);
  thread.run(kOtherReturns);
  EXPECT_EQ(thread.callers(), (Callers{0x400, 0x110}));
}

// Where calls do not tell their slots (aarch64), a return below ends what a longjmp left.
TEST(CallStack, AReturnEndsAllAboveWithoutSlots) {
  Thread thread;
  thread.run(kMainCalls);
  thread.run(kParseCalls);
  thread.run(kOtherCalls);
  thread.run(kFailJumps);  // longjmp to parse
  thread.run(kParseReturns);
  EXPECT_EQ(thread.callers(), (Callers{0x100, 0x200, 0x400}));
  thread.run(kMainCallsAgain);
  EXPECT_EQ(thread.callers(), Callers{});
}

// A new context on a stack above: its calls end none of main's, and its return to main ends them.
TEST(CallStack, AnotherStackEndsNothing) {
  Thread thread;
  thread.run(kMainCalls, 0xff8);
  thread.run(kParseReturns);  // swapcontext: to where no call came from
  thread.run(kOtherCalls, 0x8ff8);
  thread.run(kParseCalls, 0x8fe0);
  thread.run(kFailReturns);
  EXPECT_EQ(thread.callers(), (Callers{0x100, 0x400, 0x200}));
  thread.run(kMainCallsAgain, 0xff8);  // back, behind the first call
  EXPECT_EQ(thread.callers(), Callers{});
  EXPECT_EQ(thread.least(), 0U);
}

TEST(CallStack, TheNearestCallReturnsInRecursion) {
  Thread thread;
  thread.run(kMainCalls, 0xff8);
  thread.run(kParseCallsItself, 0xfe0);
  thread.run(kParseCallsItself, 0xfd0);
  thread.run(kParseReturns);
  EXPECT_EQ(thread.callers(), (Callers{0x100, 0x210, 0x210}));
  thread.run(kParseReturns);
  EXPECT_EQ(thread.callers(), (Callers{0x100, 0x210}));
  thread.run(kParseReturns);
  EXPECT_EQ(thread.callers(), (Callers{0x100}));
  thread.run(kMainCallsAgain);
  EXPECT_EQ(thread.callers(), Callers{});
}

TEST(CallStack, TheOldestCallsAreForgottenAndHeightsStay) {
  Thread thread;
  constexpr size_t kCalls = CallStack::kMostCalls + 10;
  for (size_t i = 0; i <= kCalls; ++i) thread.run(kParseCallsItself, 0x1'0000'0000 - 16 * i);
  EXPECT_EQ(thread.calls().height(), kCalls);
  EXPECT_LE(thread.calls().calls().size(), CallStack::kMostCalls);
}

}  // namespace
}  // namespace culprit::counting
