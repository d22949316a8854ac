#include "collect/perf/ring_size.h"

#include <algorithm>
#include <bit>

namespace culprit {

namespace {

constexpr uint64_t kLargestWithCopies = 16 << 20;
constexpr uint64_t kLargest = 32 << 20;
constexpr uint64_t kMostBytes = 256 << 20;  // of all rings, where they do not hold stack copies

/// Samples in a second, as far as one can know before.
uint64_t foresee_samples(const SampledEvent& event) {
  constexpr uint64_t kUnknownRate = 4'000;
  if (event.period == 0) return event.frequency_hz;
  return is_clock(event.request) ? 1'000'000'000 / event.period : kUnknownRate;
}

/// How many bytes one sample takes, stack copy and all.
uint64_t foresee_bytes(const SamplingSetup& setup) {
  constexpr uint64_t kPlain = 64;
  constexpr uint64_t kCallchain = 48 * 8;  // kernel and program; few are deeper
  constexpr uint64_t kBranches = 32 * 24;
  const bool has_chain = setup.stacks || setup.kernel_stacks;
  return kPlain + (has_chain ? kCallchain : 0) + (setup.branches ? kBranches : 0) +
         setup.stack_copy_bytes;
}

}  // namespace

size_t compute_ring_bytes(const SamplingSetup& setup, const std::vector<SampledGroup>& groups,
                          size_t cpus) {
  uint64_t samples = 0;
  for (const SampledGroup& group : groups) {
    for (const SampledEvent& event : group) samples += foresee_samples(event);
  }
  const bool has_copies = setup.stack_copy_bytes != 0;
  const uint64_t a_second = samples * foresee_bytes(setup);
  const uint64_t wanted = has_copies ? a_second / 2 : a_second * 2;
  const uint64_t room = std::bit_floor(kMostBytes / std::max<size_t>(cpus, 1));
  const uint64_t most = has_copies ? kLargestWithCopies : std::min(kLargest, room);
  return std::max<size_t>(std::bit_ceil(std::min(wanted, most)), kUsualRingBytes);
}

}  // namespace culprit
