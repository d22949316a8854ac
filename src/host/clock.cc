#include "host/clock.h"

#include <algorithm>
#include <cmath>

#include "base/time.h"

namespace culprit {
namespace {

constexpr int kTries = 5;
constexpr double kTryNs = 20'000;
constexpr uint64_t kAddsPerBlock = 64;

double monotonic_raw_ns() {
  return static_cast<double>(read_clock_ns(CLOCK_MONOTONIC_RAW));
}

// 64 adds, each needing the one before it. Registers only: some cores carry out
// the addition of a constant while renaming, in no time at all.
#if defined(__x86_64__)
#define CULPRIT_ADD "add %1, %0\n\t"
#elif defined(__aarch64__)
#define CULPRIT_ADD "add %0, %0, %1\n\t"
#endif

#ifdef CULPRIT_ADD
#define CULPRIT_ADD_8 \
  CULPRIT_ADD CULPRIT_ADD CULPRIT_ADD CULPRIT_ADD CULPRIT_ADD CULPRIT_ADD CULPRIT_ADD CULPRIT_ADD

inline uint64_t add_block(uint64_t sum, uint64_t step) {
  asm volatile(CULPRIT_ADD_8 CULPRIT_ADD_8 CULPRIT_ADD_8 CULPRIT_ADD_8 CULPRIT_ADD_8 CULPRIT_ADD_8
                   CULPRIT_ADD_8 CULPRIT_ADD_8
               : "+r"(sum)
               : "r"(step)
               : "cc");
  return sum;
}
#else
// The empty asm hides the sum from the optimizer after each add.
inline uint64_t add_block(uint64_t sum, uint64_t step) {
#pragma GCC unroll 64
  for (uint64_t i = 0; i < kAddsPerBlock; ++i) {
    sum += step;
    asm volatile("" : "+r"(sum));
  }
  return sum;
}
#endif

/// Time of `blocks` blocks; the loop's own instructions run beside the chain of adds.
double time_blocks_ns(uint64_t blocks) {
  uint64_t sum = 0;
  const double start = monotonic_raw_ns();
  for (uint64_t i = 0; i < blocks; ++i) sum = add_block(sum, blocks);
  asm volatile("" : : "r"(sum));
  return monotonic_raw_ns() - start;
}

}  // namespace

double measure_clock_burst() {
  // Enough blocks for one try, by a first short look.
  constexpr uint64_t kLookBlocks = 100;
  double look_ns = time_blocks_ns(kLookBlocks);
  look_ns = std::min(look_ns, time_blocks_ns(kLookBlocks));
  const double wanted = kTryNs / std::max(look_ns, 100.0) * static_cast<double>(kLookBlocks);
  const auto blocks = static_cast<uint64_t>(std::clamp(wanted, 100.0, 20'000.0));

  // Each its own fastest; the difference leaves out reading the clock and starting the loop.
  const uint64_t few = blocks / 8 + 1;
  double few_ns = time_blocks_ns(few);
  double all_ns = time_blocks_ns(few + blocks);
  for (int i = 1; i < kTries; ++i) {
    few_ns = std::min(few_ns, time_blocks_ns(few));
    all_ns = std::min(all_ns, time_blocks_ns(few + blocks));
  }
  if (all_ns <= few_ns) return 0;
  return static_cast<double>(blocks * kAddsPerBlock) / (all_ns - few_ns) * 1e9;
}

// A try of 20 us, timed by a clock of some 20 ns.
constexpr double kResolution = 0.001;

// The k-th smallest and k-th largest of n enclose the median with probability
// 1 - 2 P(Binomial(n, 1/2) < k); k = n/2 - 0.98 sqrt(n) makes that about 95 %.
// Below six bursts even the extremes do not, and stand as they are.
std::optional<ClockCalibration> estimate_clock(std::vector<double> bursts_hertz) {
  std::erase_if(bursts_hertz, [](double hertz) { return !(hertz > 0) || !std::isfinite(hertz); });
  if (bursts_hertz.empty()) return std::nullopt;
  std::sort(bursts_hertz.begin(), bursts_hertz.end());
  const size_t n = bursts_hertz.size();
  const double half = static_cast<double>(n) / 2;
  const double depth = std::floor(half - 0.98 * std::sqrt(static_cast<double>(n)));
  const size_t k = std::clamp<size_t>(depth > 1 ? static_cast<size_t>(depth) : 1, 1, (n + 1) / 2);

  ClockCalibration clock;
  clock.hertz =
      n % 2 == 1 ? bursts_hertz[n / 2] : (bursts_hertz[n / 2 - 1] + bursts_hertz[n / 2]) / 2;
  // No interval is narrower than what one burst can resolve.
  clock.low_hertz = std::min(bursts_hertz[k - 1], clock.hertz * (1 - kResolution));
  clock.high_hertz = std::max(bursts_hertz[n - k], clock.hertz * (1 + kResolution));
  clock.bursts = static_cast<uint32_t>(n);
  return clock;
}

}  // namespace culprit
