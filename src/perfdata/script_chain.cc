#include "perfdata/script_chain.h"

#include <linux/perf_event.h>

namespace culprit {

std::vector<ScriptFrame> leave_out_inlined(const std::vector<ScriptFrame>& frames,
                                           uint64_t& alone) {
  std::vector<ScriptFrame> kept;
  for (size_t begin = 0; begin < frames.size();) {
    const size_t kept_before = kept.size();
    size_t end = begin;
    for (; end < frames.size() && frames[end].address == frames[begin].address; ++end) {
      if (!frames[end].is_inlined) kept.push_back(frames[end]);
    }
    if (kept.size() == kept_before) {
      kept.push_back(frames[end - 1]);
      ++alone;
    }
    begin = end;
  }
  return kept;
}

uint64_t find_marker(Mode mode) {
  switch (mode) {
    case Mode::kernel:
      return PERF_CONTEXT_KERNEL;
    case Mode::guest_kernel:
      return PERF_CONTEXT_GUEST_KERNEL;
    case Mode::guest_user:
      return PERF_CONTEXT_GUEST_USER;
    case Mode::hypervisor:
      return PERF_CONTEXT_HV;
    case Mode::all:
    case Mode::user:
      break;
  }
  return PERF_CONTEXT_USER;
}

}  // namespace culprit
