#include "simulate/plugin/execution.h"

namespace culprit {

namespace file = counts_file;
using file::Branch;
using file::Counter;

Core* cores[file::kMaxCores];

namespace {

constexpr BlockFacts kNoBlock;
constexpr uint64_t kLimitStep = 4096;  // instructions between looks at the other cores

uint64_t instruction_limit = UINT64_MAX;
void (*limit_reached)() = nullptr;

uint64_t& count(Core& core, uint32_t site, Counter counter) {
  return core.shared.counts[site].value[static_cast<size_t>(counter)];
}

/// Only now it is known where the block before went on.
void finish_branch(Core& core, const BlockFacts& before, const BlockFacts& now) {
  if (before.branch == Branch::conditional && now.start != before.end) {
    ++count(core, before.last_site, Counter::taken);
  } else if (before.repeats && now.first_site == before.last_site) {
    ++count(core, before.last_site, Counter::repeats);
  }
}

void check_limit(uint64_t own_before, uint64_t own_now) {
  if (own_before / kLimitStep == own_now / kLimitStep) return;
  uint64_t all = 0;
  for (const Core* core : cores) {
    if (core != nullptr) all += core->shared.header->instructions.load(std::memory_order_relaxed);
  }
  if (all < instruction_limit) return;
  instruction_limit = UINT64_MAX;
  limit_reached();
}

}  // namespace

void set_instruction_limit(uint64_t instructions, void (*reached)()) {
  instruction_limit = instructions;
  limit_reached = reached;
}

bool start_core(CountsWriter& writer, uint32_t number) {
  if (number >= file::kMaxCores) return false;
  const CoreCounts shared = writer.core(number);
  if (shared.header == nullptr) return false;
  if (cores[number] == nullptr) cores[number] = new Core;
  *cores[number] = Core{};
  cores[number]->shared = shared;
  cores[number]->previous = &kNoBlock;
  return true;
}

void block_runs(unsigned vcpu, void* data) {
  Core* const core = cores[vcpu];
  if (core == nullptr) return;
  const auto& block = *static_cast<const BlockFacts*>(data);
  const BlockFacts& before = *core->previous;
  core->previous = &block;
  ++core->blocks_run;
  ++core->shared.runs[block.number];
  if (before.branch == Branch::conditional || before.repeats) finish_branch(*core, before, block);
  auto& instructions = core->shared.header->instructions;
  const uint64_t so_far = instructions.load(std::memory_order_relaxed);
  instructions.store(so_far + block.instructions, std::memory_order_relaxed);
  if (instruction_limit != UINT64_MAX) check_limit(so_far, so_far + block.instructions);
}

void memory_is_accessed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* data) {
  Core* const core = cores[vcpu];
  if (core == nullptr) return;
  if (info != core->known_info || core->known_bytes == 0) {
    core->known_info = info;
    core->known_bytes = 1u << qemu_plugin_mem_size_shift(info);
    core->known_is_store = qemu_plugin_mem_is_store(info);
  }
  const auto site = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(data));
  const uint32_t bytes = core->known_bytes;
  const bool is_store = core->known_is_store;
  const bool goes_on = site == core->access_site && address == core->access_end &&
                       core->access_block == core->blocks_run && is_store == core->access_is_store;
  core->access_site = site;
  core->access_end = address + bytes;
  core->access_block = core->blocks_run;
  core->access_is_store = is_store;
  auto& counts = core->shared.counts[site].value;
  constexpr auto kLoads = static_cast<size_t>(Counter::loads);
  constexpr auto kStores = static_cast<size_t>(Counter::stores);
  uint64_t* const pair = &counts[is_store ? kStores : kLoads];  // accesses, and their bytes
  pair[0] += goes_on ? 0 : 1;
  pair[1] += bytes;
}

}  // namespace culprit
