#include "calibrate/kernels.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <sched.h>
#include <thread>

#include "base/time.h"

namespace culprit {
namespace {

/// The compiler takes the value for changed.
template <class Value>
void touch(Value& value) {
  asm volatile("" : "+r"(value));
}

std::vector<int> list_own_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

bool run_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace

double measure_reading_ns(const Memory& memory, double aim_ns) {
  using Vector = uint64_t __attribute__((vector_size(16)));
  const auto* const vectors = reinterpret_cast<const Vector*>(memory.data());
  const size_t count = memory.bytes() / sizeof(Vector);
  Vector a{};
  Vector b{};
  Vector c{};
  Vector d{};
  size_t bytes = 0;
  const double start = thread_time_ns();
  double taken = 0;
  do {
    for (size_t i = 0; i + 4 <= count; i += 4) {
      a += vectors[i];
      b += vectors[i + 1];
      c += vectors[i + 2];
      d += vectors[i + 3];
    }
    bytes += memory.bytes();
    Vector sum = a + b + c + d;
    asm volatile("" : : "m"(sum));
    taken = thread_time_ns() - start;
  } while (taken < aim_ns);
  return taken / static_cast<double>(bytes);
}

double measure_branches_ns(const std::vector<uint8_t>& values) {
  uint64_t high = 0;
  uint64_t low = 0;
  const double start = thread_time_ns();
  for (const uint8_t value : values) {
    if (value >= 128) {
      ++high;
    } else {
      low += 3;
    }
    touch(high);
    touch(low);
  }
  return (thread_time_ns() - start) / static_cast<double>(values.size());
}

double measure_one_set_ns(const Memory& memory) {
  constexpr size_t kLines = 64;
  constexpr size_t kStep = 4096;
  constexpr size_t kRounds = 4000;
  const double start = thread_time_ns();
  for (size_t round = 0; round < kRounds; ++round) {
    for (size_t line = 0; line < kLines; ++line) {
      uint64_t value = *reinterpret_cast<const uint64_t*>(memory.data() + line * kStep);
      touch(value);
    }
  }
  return (thread_time_ns() - start) / static_cast<double>(kRounds * kLines);
}

std::optional<double> measure_transfer_ns() {
  const std::vector<int> cpus = list_own_cpus();
  if (cpus.size() < 2) return std::nullopt;
  constexpr uint64_t kPasses = 4000;
  constexpr int kTries = 3;
  alignas(128) std::atomic<uint64_t> turn{0};
  std::atomic<bool> is_placed{true};
  double best = std::numeric_limits<double>::infinity();
  // Each writes every second number; whoever is disturbed only makes it longer. Two that do not run
  // at the same time give up.
  constexpr uint64_t kPatienceNs = 300'000'000;
  std::atomic<bool> is_given_up{false};
  const auto pass = [&](uint64_t first) {
    const uint64_t start = monotonic_ns();
    uint64_t mine = first;
    for (uint64_t looks = 1; mine < kPasses && !is_given_up; ++looks) {
      if (turn.load(std::memory_order_acquire) == mine) {
        turn.store(mine + 1, std::memory_order_release);
        mine += 2;
      } else if (looks % 4096 == 0 && monotonic_ns() - start > kPatienceNs) {
        is_given_up = true;
      }
    }
  };
  for (int attempt = 0; attempt < kTries; ++attempt) {
    turn = 0;
    std::thread other([&] {
      if (!run_on(cpus[1])) is_placed = false;
      pass(1);
    });
    std::thread self([&] {
      if (!run_on(cpus[0])) is_placed = false;
      const uint64_t start = monotonic_ns();
      pass(0);
      if (!is_given_up)
        best = std::min(best, static_cast<double>(monotonic_ns() - start) / kPasses);
    });
    self.join();
    other.join();
  }
  return is_placed && !is_given_up ? std::optional(best) : std::nullopt;
}

}  // namespace culprit
