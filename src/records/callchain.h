#pragma once

// A sample's callchain: addresses with markers between them that say in which
// mode those that follow were executed. Innermost frame first.
//
//   KERNEL k0 k1 USER u0 u1    sampled at k0, called from before k1; entered the
//                              kernel at u0, which was called from before u1

#include <cstdint>
#include <span>
#include <vector>

#include "base/address.h"
#include "model/profile.h"
#include "records/record.h"

namespace culprit {

struct CallFrame {
  /// Where in the function: the sampled address, the place where the kernel was entered, and for
  /// callers the last byte of the call, which the return address follows.
  RunAddress address;
  Mode mode = Mode::user;
  friend bool operator==(const CallFrame&, const CallFrame&) = default;
};

/// The stack that the branch records of a sample hold when they are the calls not returned from
/// (PERF_SAMPLE_BRANCH_CALL_STACK): what `frames`, its callchain, says of the kernel and of where
/// user code was left, then the place of each call. Without either, or of the kernel alone, the
/// callchain stays as it is.
std::vector<CallFrame> list_recorded_calls(const SampleRecord& sample,
                                           std::vector<CallFrame> frames);

/// Innermost first. `first_mode` holds until a marker says otherwise; addresses after an
/// unknown marker are left out.
std::vector<CallFrame> split_callchain(std::span<const uint64_t> chain, Mode first_mode);

}  // namespace culprit
