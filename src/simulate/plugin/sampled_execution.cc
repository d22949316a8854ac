#include "simulate/plugin/sampled_execution.h"

#include "simulate/plugin/execution_parts.h"

namespace culprit {

namespace file = counts_file;
using file::Counter;

namespace {

/// Which lines are simulated, where the callbacks find it fast.
struct Sampled {
  static constexpr uint8_t kNot = 0xff;
  uint32_t line_shift = 0;
  uint64_t line_bytes = 0;
  uint64_t groups_mask = 0;
  uint8_t classes[simulate::kMostSetGroups] = {};  // by group of sets

  [[nodiscard]] uint8_t class_of(uint64_t address) const {
    return classes[(address >> line_shift) & groups_mask];
  }
  /// False: an access of 8 bytes at most, which QEMU's parts are, is not simulated.
  [[nodiscard]] bool may_hold(uint64_t address) const {
    constexpr uint64_t kMostBytes = 8;
    const bool may_reach_next = (address & (line_bytes - 1)) > line_bytes - kMostBytes;
    return class_of(address) != kNot || may_reach_next;
  }
  /// Of the first line that the access touches and the sample holds.
  [[nodiscard]] uint8_t class_of(uint64_t address, uint32_t bytes) const {
    const uint8_t first = class_of(address);
    const bool is_one_line = (address & (line_bytes - 1)) + bytes <= line_bytes;
    return first != kNot || is_one_line ? first : class_of(address + bytes - 1);
  }
};
Sampled sampled;

/// A miss in the counters, and in those of the class of its set.
void count_miss(Core& core, uint32_t site, simulate::Outcome outcome, uint8_t in_class,
                Counter first) {
  if (outcome.source == simulate::DataSource::l1) return;
  ++count_from(core.shared.counts[site], first, static_cast<size_t>(outcome.source) - 1);
  ++core.shared.misses[site].misses[in_class];
}

void fetch(Core& core, const CodePart& part) {
  const simulate::Outcome outcome = simulate::fetch(*core.memory, part);
  count_miss(core, part.site, outcome, sampled.class_of(part.address), Counter::fetch_l2);
}

/// Of the lines in the sample.
[[gnu::noinline]] void fetch(Core& core, const BlockFacts& block) {
  fetch(core, block.first_part);
  for (const CodePart& part : block.other_parts) fetch(core, part);
}

void block_runs(unsigned vcpu, void* data) {
  const auto& block = *static_cast<const BlockFacts*>(data);
  Core* const core = find_core(vcpu, block);
  if (core == nullptr) return;
  count_block(*core, block);
  if (block.parts != 0) fetch(*core, block);
}

void simulate_access(Core& core, uint32_t site, uint64_t address, const AccessShape& shape) {
  const uint8_t in_class = sampled.class_of(address, shape.bytes);
  if (in_class == Sampled::kNot) [[likely]]
    return;
  const auto kind = shape.is_store ? simulate::AccessKind::store : simulate::AccessKind::load;
  const simulate::Outcome outcome =
      simulate::access<simulate::Locality::off>(*core.memory, address, shape.bytes, kind, site);
  count_miss(core, site, outcome, in_class, shape.is_store ? Counter::store_l2 : Counter::load_l2);
}

void memory_is_accessed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* data) {
  clear_upper_halves();
  Core* const core = counting[vcpu];
  if (core == nullptr) return;
  const AccessShape& shape = core->shapes.find(info);
  const uint32_t site = AccessPlace::of(data).site;
  count_access(*core, site, shape, !core->goes_on(site, address, shape));
  simulate_access(*core, site, address, shape);
}

[[gnu::noinline]] void known_may_be_simulated(unsigned vcpu, qemu_plugin_meminfo_t info,
                                              uint64_t address, uint32_t site) {
  clear_upper_halves();
  Core* const core = counting[vcpu];
  if (core != nullptr) simulate_access(*core, site, address, core->shapes.find(info));
}

/// Most are left at once: this is all that their speed is of.
void known_is_accessed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* data) {
  if (!sampled.may_hold(address)) [[likely]]
    return;
  known_may_be_simulated(vcpu, info, address, AccessPlace::of(data).site);
}

}  // namespace

Callbacks sampled_callbacks(const simulate::Hierarchy& machine) {
  const simulate::SetSample& sample = machine.sample();
  sampled.line_bytes = machine.machine().line_bytes;
  sampled.line_shift = static_cast<uint32_t>(std::countr_zero(sampled.line_bytes));
  sampled.groups_mask = sample.groups() - 1;
  const uint32_t classes = sample.classes(file::kMostSampleClasses);
  for (uint64_t line = 0; line < sample.groups(); ++line) {
    sampled.classes[line] =
        sample.holds(line) ? static_cast<uint8_t>(sample.group_of(line) % classes) : Sampled::kNot;
  }
  return {block_runs, memory_is_accessed, known_is_accessed, known_is_accessed, known_is_accessed};
}

}  // namespace culprit
