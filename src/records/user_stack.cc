#include "records/user_stack.h"

#include <algorithm>

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

std::vector<CallFrame> list_frames(const SampleRecord& sample, uint32_t pid,
                                   const AddressSpaces& spaces, const UnwindStack& unwind,
                                   Ledger& ledger) {
  std::vector<CallFrame> frames = split_callchain(sample.callchain, sample.mode);
  if (!unwind || (sample.mode != Mode::user && sample.mode != Mode::kernel)) return frames;
  const bool has_user_chain = std::any_of(frames.begin(), frames.end(),
                                          [](const CallFrame& f) { return f.mode == Mode::user; });
  if (sample.user_stack.empty() && has_user_chain) return frames;  // nothing was copied
  // The chain is the kernel's part: of a sample in user code it has nothing to say.
  std::erase_if(frames, [](const CallFrame& frame) { return frame.mode != Mode::kernel; });
  if (frames.empty() && sample.mode == Mode::kernel) frames.push_back({sample.ip, sample.mode});
  const UnwoundStack stack = unwind(pid, spaces, sample.user_registers, sample.user_stack);
  // While exec replaces the program, its registers are there yet, but what they mean is gone.
  const bool is_in_exec = !stack.frames.empty() && sample.mode == Mode::kernel &&
                          spaces.find(pid, stack.frames.front().address) == nullptr;
  if (is_in_exec) return frames;
  if (const LedgerKind* const kind = find_stop_kind(stack.stop)) ledger.add(*kind);
  frames.insert(frames.end(), stack.frames.begin(), stack.frames.end());
  return frames;
}

}  // namespace culprit
