// What the machine model takes per access, branch and block, in nanoseconds of this machine:
//
//   cmake --preset release && cmake --build --preset release --target machine_bench
//   build/release/machine_bench
//
// Medians of 7 rounds, CPU time. The simulated machine has a 32 KiB L1D, 512 KiB L2, 8 MiB L3.

#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "simulate/machine/branch.h"
#include "simulate/machine/core.h"
#include "simulate/machine/hierarchy.h"
#include "stats/robust.h"

namespace {

using namespace culprit;
using namespace culprit::simulate;

uint64_t g_sum = 0;  // so that no work is left out

double thread_cpu_ns() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// Median CPU time of `work(times)` per time, of 7 rounds after one to warm up.
template <class Work>
double measure_ns(uint64_t times, Work work) {
  std::vector<double> rounds;
  for (int round = 0; round < 8; ++round) {
    const double begin = thread_cpu_ns();
    g_sum += work(times);
    const double took = thread_cpu_ns() - begin;
    if (round > 0) rounds.push_back(took / static_cast<double>(times));
  }
  return compute_median(rounds);
}

struct Pattern {
  const char* name;
  uint64_t span_bytes;  // of addresses used, in turn
  uint64_t step_bytes;
  bool prefetch;
};

/// The offsets of a pattern, in an order that no prefetcher of the host follows too easily.
std::vector<uint32_t> make_offsets(const Pattern& pattern) {
  std::vector<uint32_t> offsets;
  for (uint64_t at = 0; at < pattern.span_bytes; at += pattern.step_bytes) {
    offsets.push_back(static_cast<uint32_t>(at));
  }
  return offsets;
}

template <Locality kLocality>
double measure_pattern(const Pattern& pattern, uint32_t sample_sets) {
  MachineModel machine;
  machine.prefetch.stream = pattern.prefetch;
  machine.prefetch.stride = pattern.prefetch;
  const auto memory =
      *Hierarchy::make(machine, {.locality = kLocality, .sample_sets = sample_sets});
  CoreState& core = memory->add_core();
  const std::vector<uint32_t> offsets = make_offsets(pattern);
  return measure_ns(1000000, [&](uint64_t times) {
    uint64_t plain = 0;
    size_t next = 0;
    for (uint64_t i = 0; i < times; ++i) {
      const Site site = 1 + static_cast<Site>(i & 3);
      plain += access<kLocality>(core, 0x10000000 + offsets[next], 8,
                                 (i & 3) == 3 ? AccessType::store : AccessType::load, site)
                   .plain_hit();
      next = next + 1 == offsets.size() ? 0 : next + 1;
    }
    return plain;
  });
}

void print_accesses() {
  const Pattern patterns[] = {
      {"same line, 8 bytes on", 64, 8, false},
      {"running through L1D, 8 bytes on", 16 << 10, 8, false},
      {"another line each time, L1D", 16 << 10, 64, false},
      {"L2 hits", 256 << 10, 64, false},
      {"L3 hits", 4 << 20, 64, false},
      {"memory", 64 << 20, 64, false},
      {"memory, 8 bytes on", 64 << 20, 8, false},
      {"memory, 8 bytes on, prefetch", 64 << 20, 8, true},
  };
  std::printf("%-34s %8s %8s %8s %12s\n", "ns per access, locality", "off", "l1", "all",
              "off, 1/16");
  for (const Pattern& pattern : patterns) {
    std::printf(
        "%-34s %8.2f %8.2f %8.2f %12.2f\n", pattern.name,
        measure_pattern<Locality::off>(pattern, 1), measure_pattern<Locality::l1>(pattern, 1),
        measure_pattern<Locality::all>(pattern, 1), measure_pattern<Locality::off>(pattern, 16));
  }
}

void print_branches() {
  for (const bool random : {false, true}) {
    BranchPredictor predictor{BranchSettings()};
    uint64_t state = 1;
    const double ns = measure_ns(500000, [&](uint64_t times) {
      uint64_t misses = 0;
      for (uint64_t i = 0; i < times; ++i) {
        state = state * 6364136223846793005 + 1442695040888963407;
        const bool taken = random ? state >> 63 != 0 : i % 8 != 0;
        misses += is_branch_miss(predictor.predict(
            {.address = 0x401000 + (i & 63) * 16, .taken = taken, .target = 0x401000}));
      }
      return misses;
    });
    std::printf("%-34s %8.2f\n", random ? "branch, random" : "branch, period 8", ns);
  }
}

void print_blocks() {
  std::vector<SiteTicks> sites(1);
  IntervalCore core(MachineModel(), sites.data());
  std::vector<InstructionCosts> instructions(6);
  instructions[1].loads = instructions[2].loads = 1;
  const BlockCycles block = compute_block_cycles(instructions, {}, CoreSettings());
  Outcome miss;
  miss.source = DataSource::l2;
  miss.missed_lines = 1;
  miss.latency_cycles = 14;
  for (const int misses : {0, 1}) {
    const double ns = measure_ns(500000, [&](uint64_t times) {
      for (uint64_t i = 0; i < times; ++i) {
        core.end_block();
        core.begin_block(block);
        core.load(1, Outcome());
        core.load(2, misses != 0 ? miss : Outcome());
        core.store(3, Outcome());
      }
      return core.now();
    });
    std::printf("%-34s %8.2f\n",
                misses != 0 ? "block, 2 loads, 1 store, 1 L2 hit" : "block, 2 loads, 1 store", ns);
  }
}

}  // namespace

int main() {
  print_accesses();
  print_branches();
  print_blocks();
  return g_sum == 42 ? 1 : 0;
}
