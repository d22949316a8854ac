#include "simulate/plugin/watched_part.h"

#include <atomic>
#include <utility>

#include "simulate/plugin/execution.h"

namespace culprit {

bool is_region_watched = false;

namespace {

bool has_region = false;
uint64_t skipped = 0;
std::atomic<uint64_t> run_so_far{0};  // instructions of all threads, until they are `skipped`

/// To the block for one thread; of others, what they have not added yet is missed.
bool is_skipped(Core& core, const BlockFacts& block) {
  constexpr uint64_t kAddAt = 4096;
  if (run_so_far.load(std::memory_order_relaxed) + core.not_added >= skipped) return false;
  core.not_added += block.instructions;
  if (core.not_added >= kAddAt) {
    run_so_far.fetch_add(std::exchange(core.not_added, 0), std::memory_order_relaxed);
  }
  return true;
}

}  // namespace

void watch_region(bool only_region, uint64_t skipped_instructions) {
  has_region = only_region;
  skipped = skipped_instructions;
  is_region_watched = has_region || skipped > 0;
}

Core* watch_block(unsigned vcpu, const BlockFacts& block) {
  Core* const core = cores[vcpu];
  if (core == nullptr) return nullptr;
  const bool is_inside = !has_region || core->region.step(block);
  // Threads are side by side in counting[]: it is written only where something changes.
  if (!is_skipped(*core, block) && is_inside) {
    if (counting[vcpu] == nullptr) {
      core->forget_previous();
      counting[vcpu] = core;
    }
    return core;
  }
  if (counting[vcpu] != nullptr) counting[vcpu] = nullptr;
  core->shared.header->outside_instructions += block.instructions;
  return nullptr;
}

}  // namespace culprit
