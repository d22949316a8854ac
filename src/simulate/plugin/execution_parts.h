#pragma once

// What the callbacks of execution.cc and sampled_execution.cc have in common.

#include "simulate/plugin/execution.h"
#include "simulate/plugin/watched_part.h"

namespace culprit {

/// Set when all instructions of all cores together have reached the limit.
extern uint64_t instruction_limit;
void check_limit(uint64_t own_before, uint64_t own_now);

#ifdef __x86_64__
inline const bool host_has_avx = __builtin_cpu_supports("avx") != 0;
#endif

/// After guest code that is wide, and in accesses of blocks that are: QEMU's code for it leaves the
/// upper halves of vector registers in use; then the first SSE instruction of ours, and the next
/// AVX one of QEMU's, would wait tens of cycles (bench/simulate.py, "row AVX2").
///
/// Source: Intel 64 and IA-32 Architectures Optimization Reference Manual, "Mixing AVX Code with
///         SSE Code"
inline void clear_upper_halves() {
#ifdef __x86_64__
  if (host_has_avx) asm volatile("vzeroupper");
#endif
}

inline uint64_t& count(Core& core, uint32_t site, counts_file::Counter counter) {
  return core.shared.counts[site].value[static_cast<size_t>(counter)];
}

/// One more access (`is_new`), or a further part of one.
inline void count_access(Core& core, uint32_t site, const AccessShape& shape, bool is_new) {
  using counts_file::Counter;
  const Counter first = shape.is_store ? Counter::stores : Counter::loads;
  uint64_t* const pair = core.shared.accesses[site].value + static_cast<size_t>(first);
  pair[0] += is_new ? 1 : 0;
  pair[1] += shape.bytes;  // the counter behind it
}

inline uint64_t& count_from(counts_file::SiteCounts& counts, counts_file::Counter first,
                            size_t step) {
  return counts.value[static_cast<size_t>(first) + step];
}

/// The core that runs the block; nullptr: it is not counted.
inline Core* find_core(unsigned vcpu, const BlockFacts& block) {
  return is_region_watched ? watch_block(vcpu, block) : cores[vcpu];
}

/// One more run of the block; the one before it.
[[gnu::always_inline]] inline const BlockFacts& count_block(Core& core, const BlockFacts& block) {
  const BlockFacts& before = *core.previous;
  if (before.is_wide) clear_upper_halves();
  core.previous = &block;
  ++core.shared.runs[block.number].runs;
  // Only now it is known where the block before went on. Without a branch of ours: it would be as
  // hard to predict as the program's.
  const bool was_conditional = before.branch == counts_file::Branch::conditional;
  core.shared.runs[before.number].taken += was_conditional & (block.start != before.end);
  if (before.repeats && block.first_site == before.last_site) {
    ++count(core, before.last_site, counts_file::Counter::repeats);
  }
  auto& instructions = core.shared.header->instructions;
  const uint64_t so_far = instructions.load(std::memory_order_relaxed);
  instructions.store(so_far + block.instructions, std::memory_order_relaxed);
  if (instruction_limit != UINT64_MAX) check_limit(so_far, so_far + block.instructions);
  return before;
}

}  // namespace culprit
