#include "records/user_stack.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

namespace culprit {
namespace {

// simpleperf sets STACK_USER in files whose stacks it has unwound itself: nothing is copied, and
// the callchain has the user's part.
TEST(ListFrames, TakesTheCallchainWhereNothingWasCopied) {
  SampleRecord sample;
  sample.ip = RunAddress(0x1000);
  sample.mode = Mode::user;
  sample.callchain = {PERF_CONTEXT_USER, 0x1000, 0x2001};
  const UnwindStack never = [](uint32_t, const AddressSpaces&, const RegisterDump&,
                               std::span<const std::byte>) { return UnwoundStack{}; };
  Ledger ledger;
  const std::vector<CallFrame> frames = list_frames(sample, 1, {}, never, ledger);
  EXPECT_EQ(frames, (std::vector<CallFrame>{{RunAddress(0x1000), Mode::user},
                                            {RunAddress(0x2000), Mode::user}}));
}

/// A walk of the copy that yields these frames and then leaves the copy.
UnwindStack walk_to(std::vector<uint64_t> addresses) {
  return
      [addresses](uint32_t, const AddressSpaces&, const RegisterDump&, std::span<const std::byte>) {
        UnwoundStack stack;
        for (const uint64_t address : addresses) {
          stack.frames.push_back({RunAddress(address), Mode::user});
        }
        stack.stop = UnwindStop::outside_copy;
        return stack;
      };
}

std::vector<uint64_t> list_addresses(const UnwindStack& unwind, Ledger& ledger) {
  constexpr std::byte kCopied[8] = {};
  SampleRecord sample;
  sample.ip = RunAddress(0x1000);
  sample.mode = Mode::user;
  // Frame pointers miss the caller of a function that has none: 2000 here.
  sample.callchain = {PERF_CONTEXT_USER, 0x1000, 0x3001, 0x4001, 0x5001};
  sample.user_stack = kCopied;
  std::vector<uint64_t> addresses;
  for (const CallFrame& frame : list_frames(sample, 1, {}, unwind, ledger)) {
    addresses.push_back(frame.address.value);
  }
  return addresses;
}

TEST(ListFrames, GoesOnByFramePointersBeyondTheCopy) {
  Ledger ledger;
  EXPECT_EQ(list_addresses(walk_to({0x1000, 0x2000, 0x3000}), ledger),
            (std::vector<uint64_t>{0x1000, 0x2000, 0x3000, 0x4000, 0x5000}));
  EXPECT_EQ(ledger.amount(ledger::kStacksOutsideCopy), 0u);
}

TEST(ListFrames, DoesNotJoinStacksThatDoNotMeet) {
  Ledger ledger;
  EXPECT_EQ(list_addresses(walk_to({0x1000, 0x2000}), ledger),
            (std::vector<uint64_t>{0x1000, 0x2000}));
  EXPECT_EQ(ledger.amount(ledger::kStacksOutsideCopy), 1u);
}

}  // namespace
}  // namespace culprit
