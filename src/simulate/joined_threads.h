#pragma once

// Threads of a native and of a simulated run of one command: which of them are the same.
//
// A process is the one of the same name, the first, second, ... of the processes of that name if
// there are equally many; a thread the one that began as the same of its process: first, second,
// third. (Threads that two others start may begin in another order in each run.) What a thread has
// samples on natively its counterpart must have executed, at least half of it, as far as any thread
// of the simulated run did; else they are not the same.

#include <cstdint>
#include <string>

#include "model/profile.h"
#include "simulate/native_samples.h"

namespace culprit {

struct JoinedThreads {
  uint64_t joined = 0;
  uint64_t native_only = 0;     // with samples
  uint64_t simulated_only = 0;  // of which the native run has no sample, mostly
  uint64_t differing = 0;       // pairs that ran other code
  friend bool operator==(const JoinedThreads&, const JoinedThreads&) = default;
};

/// `both`: as NativeSamples::join() has it. What the simulated run counted is the native run's
/// processes' and threads' from now on, where they are the same.
JoinedThreads join_threads(const NativeSamples& samples, Profile& both);

/// "" if there is nothing to say: one thread, and it is the same.
std::string describe_joined(const JoinedThreads& threads);

}  // namespace culprit
