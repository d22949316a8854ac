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

}  // namespace
}  // namespace culprit
