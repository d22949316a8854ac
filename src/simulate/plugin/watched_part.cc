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
uint64_t not_added[counts_file::kMaxCores];  // to that: what each thread has run since it last did

/// To the block for one thread; of others, what they have not added yet is missed.
bool is_skipped(unsigned vcpu, const BlockFacts& block) {
  constexpr uint64_t kAddAt = 4096;
  if (run_so_far.load(std::memory_order_relaxed) + not_added[vcpu] >= skipped) return false;
  not_added[vcpu] += block.instructions;
  if (not_added[vcpu] >= kAddAt) {
    run_so_far.fetch_add(std::exchange(not_added[vcpu], 0), std::memory_order_relaxed);
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
  if (!is_skipped(vcpu, block) && is_inside) {
    if (counting[vcpu] == nullptr) core->forget_previous();
    return counting[vcpu] = core;
  }
  core->shared.header->outside_instructions += block.instructions;
  return counting[vcpu] = nullptr;
}

}  // namespace culprit
