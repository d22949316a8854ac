#include "records/user_stack.h"

#include <algorithm>
#include <iterator>

namespace culprit {

const LedgerKind* find_stop_kind(UnwindStop stop) {
  switch (stop) {
    case UnwindStop::end_of_stack:
    case UnwindStop::no_registers:
      return nullptr;
    case UnwindStop::depth_limit:
      return &ledger::kTruncatedStacks;
    case UnwindStop::outside_copy:
      return &ledger::kStacksOutsideCopy;
    case UnwindStop::no_unwind_information:
      return &ledger::kStacksWithoutTables;
    case UnwindStop::damaged:
      return &ledger::kDamagedStacks;
    case UnwindStop::unsupported:
      return &ledger::kUnsupportedStacks;
  }
  return nullptr;
}

namespace {

/// A walk that came to the end of its copy goes on where frame pointers have met it: from the last
/// frame that both have, but for the first, which is no call of anybody.
void continue_by_frame_pointers(const std::vector<CallFrame>& chain, UnwoundStack& stack) {
  if (stack.stop != UnwindStop::outside_copy) return;
  for (size_t at = stack.frames.size(); at > 1; --at) {
    const auto met = std::ranges::find(chain, stack.frames[at - 1].address, &CallFrame::address);
    if (met == chain.end()) continue;
    if (met + 1 == chain.end()) return;
    stack.frames.resize(at);
    stack.frames.insert(stack.frames.end(), met + 1, chain.end());
    stack.stop = UnwindStop::end_of_stack;
    return;
  }
}

}  // namespace

std::vector<CallFrame> list_frames(const SampleRecord& sample, uint32_t pid,
                                   const AddressSpaces& spaces, const UnwindStack& unwind,
                                   Ledger& ledger) {
  std::vector<CallFrame> frames = split_callchain(sample.callchain, sample.mode);
  if (!unwind || (sample.mode != Mode::user && sample.mode != Mode::kernel)) return frames;
  const bool has_user_chain = std::any_of(frames.begin(), frames.end(),
                                          [](const CallFrame& f) { return f.mode == Mode::user; });
  if (sample.user_stack.empty() && has_user_chain) return frames;  // nothing was copied
  std::vector<CallFrame> by_frame_pointers;
  std::ranges::copy_if(frames, std::back_inserter(by_frame_pointers),
                       [](const CallFrame& frame) { return frame.mode == Mode::user; });
  // The chain is the kernel's part: of a sample in user code it has nothing to say.
  std::erase_if(frames, [](const CallFrame& frame) { return frame.mode != Mode::kernel; });
  if (frames.empty() && sample.mode == Mode::kernel) frames.push_back({sample.ip, sample.mode});
  UnwoundStack stack = unwind(pid, spaces, sample.user_registers, sample.user_stack);
  continue_by_frame_pointers(by_frame_pointers, stack);
  // While exec replaces the program, its registers are there yet, but what they mean is gone.
  const bool is_in_exec = !stack.frames.empty() && sample.mode == Mode::kernel &&
                          spaces.find(pid, stack.frames.front().address) == nullptr;
  if (is_in_exec) return frames;
  if (const LedgerKind* const kind = find_stop_kind(stack.stop)) ledger.add(*kind);
  frames.insert(frames.end(), stack.frames.begin(), stack.frames.end());
  return frames;
}

}  // namespace culprit
