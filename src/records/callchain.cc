#include "records/callchain.h"

#include <algorithm>
#include <linux/perf_event.h>
#include <optional>

namespace culprit {

namespace {

std::optional<Mode> mode_of_marker(uint64_t marker) {
  switch (marker) {
    case PERF_CONTEXT_USER:
      return Mode::user;
    case PERF_CONTEXT_KERNEL:
      return Mode::kernel;
    case PERF_CONTEXT_HV:
      return Mode::hypervisor;
    case PERF_CONTEXT_GUEST_USER:
      return Mode::guest_user;
    case PERF_CONTEXT_GUEST:
    case PERF_CONTEXT_GUEST_KERNEL:
      return Mode::guest_kernel;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::vector<CallFrame> split_callchain(std::span<const uint64_t> chain, Mode first_mode) {
  std::vector<CallFrame> frames;
  frames.reserve(chain.size());
  std::optional<Mode> mode = first_mode;
  bool is_return_address = false;
  for (const uint64_t entry : chain) {
    if (entry >= PERF_CONTEXT_MAX) {
      mode = mode_of_marker(entry);
      is_return_address = false;
      continue;
    }
    if (mode && entry != 0)
      frames.push_back({RunAddress(entry - (is_return_address ? 1 : 0)), *mode});
    is_return_address = true;
  }
  return frames;
}

std::vector<CallFrame> list_recorded_calls(const SampleRecord& sample,
                                           std::vector<CallFrame> frames) {
  if (frames.empty()) frames.push_back({sample.ip, sample.mode});
  const auto user = std::find_if(frames.begin(), frames.end(),
                                 [](const CallFrame& frame) { return frame.mode == Mode::user; });
  if (user == frames.end() || sample.branches.empty()) return frames;
  frames.erase(user + 1, frames.end());
  for (const BranchEntry& call : sample.branches) {
    const bool is_user = call.from.value != 0 && call.from < kKernelHalf;
    if (is_user) frames.push_back({call.from, Mode::user});
  }
  return frames;
}

}  // namespace culprit
