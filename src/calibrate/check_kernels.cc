#include "calibrate/check_kernels.h"

#include <fmt/format.h>

#include "base/text.h"

namespace culprit {
namespace {

constexpr uint64_t kLine = 64;
constexpr uint64_t kPage = 4096;

/// Twice through all of it at least.
uint64_t rounds_of(uint64_t places) {
  constexpr uint64_t kLeast = 100'000;
  constexpr uint64_t kMost = 400'000;
  return std::min(kMost, std::max(kLeast, 2 * places));
}

std::string describe(std::string_view kernel, uint64_t bytes) {
  return fmt::format("{} {} KiB", kernel, bytes >> 10);
}

/// The largest power of two that is at most that.
uint64_t whole_power(uint64_t bytes) {
  uint64_t power = 1;
  while (power <= bytes / 2) power *= 2;
  return power;
}

}  // namespace

std::vector<CheckKernel> list_check_kernels(const simulate::MachineModel& machine,
                                            uint64_t most_bytes) {
  std::vector<CheckKernel> kernels;
  const auto add = [&](const char* kernel, uint64_t bytes, uint64_t place,
                       std::vector<std::string> keys) {
    bytes = bytes / (64 * kPage) * (64 * kPage);
    if (bytes == 0 || bytes > most_bytes) return;
    kernels.push_back(
        {describe(kernel, bytes), kernel, rounds_of(bytes / place), bytes, std::move(keys)});
  };
  const uint64_t l2 = machine.l2.size_bytes;
  const uint64_t l3 = machine.l3.size_bytes;
  const uint64_t large = whole_power(most_bytes);
  kernels.push_back({"chase in L1D",
                     "chase",
                     200'000,
                     machine.l1d.size_bytes / 2 / kLine * kLine,
                     {"l1d.latency_cycles"}});
  add("chase", l2 / 2, kLine, {"l2.latency_cycles"});
  if (machine.l3.present() && l3 > 4 * l2) {
    for (const uint64_t bytes : {3 * l2, l3 / 5, l3 / 2}) {
      add("chase", bytes, kLine,
          {"l3.latency_cycles", "l3.size_kib", "memory.latency_cycles", "tlb.walk_last_cycles"});
    }
    add("gather", whole_power(l3 / 4), kLine,
        {"l3.latency_cycles", "l3.size_kib", "core.miss_buffers", "memory.latency_cycles",
         "memory.shared_bytes_per_cycle"});
    add("stream", whole_power(l3 / 8), kLine,
        {"memory.shared_bytes_per_cycle", "l3.latency_cycles", "l3.size_kib"});
  }
  add("chase", large, kLine, {"memory.latency_cycles", "l3.size_kib"});
  add("gather", large, kLine,
      {"memory.latency_cycles", "core.miss_buffers", "memory.bytes_per_cycle", "l3.size_kib"});
  add("stream", large, kLine,
      {"memory.bytes_per_cycle", "memory.latency_cycles", "memory.shared_bytes_per_cycle"});
  add("fill", large, kLine,
      {"memory.bytes_per_cycle", "memory.latency_cycles", "memory.shared_bytes_per_cycle"});
  add("stream", whole_power(l2 / 2), kLine, {"memory.l2_bytes_per_cycle", "l2.latency_cycles"});
  add("one-set", 32 * kPage * 2, kPage, {"memory.l1d_set_cycles", "memory.l2_bytes_per_cycle"});
  add("page-chase", 1024 * kPage, kPage, {"tlb.second_latency_cycles", "l2.latency_cycles"});
  add("page-chase", 4 * uint64_t{machine.tlb.second.entries} * kPage, kPage,
      {"tlb.walk_last_cycles", "tlb.second_latency_cycles", "l3.latency_cycles"});
  for (const char* const kernel : {"random-branches", "random-jumps"}) {
    kernels.push_back({kernel, kernel, 200'000, 0, {"core.mispredict_cycles"}});
  }
  kernels.push_back({"deep-calls", "deep-calls", 2'000, 0, {"core.mispredict_cycles"}});
  return kernels;
}

}  // namespace culprit
