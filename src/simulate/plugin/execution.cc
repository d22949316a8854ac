#include "simulate/plugin/execution.h"

#include <unistd.h>
#include <utility>

#include "simulate/plugin/execution_parts.h"
#include "simulate/plugin/sampled_execution.h"

namespace culprit {

namespace file = counts_file;
using file::Branch;
using file::Counter;
using file::SiteCounts;

Core* cores[file::kMaxCores];
Core* counting[file::kMaxCores];
uint64_t instruction_limit = UINT64_MAX;

namespace {

const BlockFacts kNoBlock;

/// What is modelled, of an instance of the callbacks.
struct Model {
  bool caches = false;
  simulate::Locality locality = simulate::Locality::off;
  bool cycles = false;
};

std::unique_ptr<simulate::Hierarchy> machine;
simulate::Locality locality = simulate::Locality::off;
bool has_cycles = false;
void (*limit_reached)() = nullptr;

/// By counts_file::Branch; `none` and `system_call` are not predicted.
constexpr simulate::BranchKind kPredicted[] = {
    {},
    simulate::BranchKind::conditional,
    simulate::BranchKind::jump,
    simulate::BranchKind::indirect_jump,
    simulate::BranchKind::call,
    simulate::BranchKind::indirect_call,
    simulate::BranchKind::ret,
};

template <bool kCycles>
void predict_branch(Core& core, const BlockFacts& before, const BlockFacts& now) {
  simulate::Branch branch;
  branch.address = before.last_address;
  branch.kind = kPredicted[static_cast<size_t>(before.branch)];
  branch.taken = before.branch != Branch::conditional || now.start != before.end;
  branch.target = now.start;
  branch.return_to = before.end;
  const simulate::Misprediction miss = core.predictor->predict(branch);
  if constexpr (kCycles) {
    core.clock->branch(before.last_site, miss);
    if (branch.taken) core.clock->taken(before.last_site);
  }
  if (miss == simulate::Misprediction::none) return;
  const bool is_miss = simulate::is_branch_miss(miss);
  ++count(core, before.last_site, is_miss ? Counter::mispredicted : Counter::late_targets);
}

/// What was not a hit in the first level and its TLB. `first` is the counter of L2.
[[gnu::noinline]] void count_outcome(SiteCounts& counts, simulate::Outcome outcome, Counter first,
                                     Counter second_tlb, Counter walk_cycles) {
  if (outcome.source != simulate::DataSource::l1) {
    ++count_from(counts, first, static_cast<size_t>(outcome.source) - 1);
  }
  if (outcome.translation != simulate::Translation::first_level) {
    ++count_from(counts, second_tlb, static_cast<size_t>(outcome.translation) - 1);
    count_from(counts, walk_cycles, 0) += outcome.walk_cycles;
  }
}

template <Model kModel>
[[gnu::noinline]] void fetch_unusual(Core& core, const CodePart& part) {
  const simulate::PackedOutcome outcome = simulate::fetch_unusual(*core.memory, part);
  if (outcome.plain_hit()) return;
  if constexpr (kModel.cycles) core.clock->fetch(part.site, outcome);
  count_outcome(core.shared.counts[part.site], outcome, Counter::fetch_l2,
                Counter::fetch_second_tlb, Counter::fetch_walk_cycles);
}

template <Model kModel>
[[gnu::always_inline]] inline void fetch_part(Core& core, const CodePart& part) {
  if (!simulate::fetch_usual(*core.memory, part)) [[unlikely]]
    fetch_unusual<kModel>(core, part);
}

template <Model kModel>
void block_runs(unsigned vcpu, void* data) {
  const auto& block = *static_cast<const BlockFacts*>(data);
  Core* const core = find_core(vcpu, block);
  if (core == nullptr) return;
  const BlockFacts& before = count_block(*core, block);
  if constexpr (kModel.cycles) core->clock->end_block();
  if constexpr (kModel.caches) {
    if (before.branch != Branch::none && before.branch != Branch::system_call) {
      predict_branch<kModel.cycles>(*core, before, block);
    }
    fetch_part<kModel>(*core, block.first_part);
    if (block.parts > 1) {
      for (const CodePart& part : block.other_parts) fetch_part<kModel>(*core, part);
    }
  }
  if constexpr (kModel.cycles) {
    core->clock->begin_block(block.cycles);
    core->shared.header->ticks = core->clock->now() - core->ticks_before;
  }
}

/// An access as its callback sees it.
struct Access {
  AccessPlace place;
  uint64_t address = 0;
  uint32_t bytes = 0;
  bool is_store = false;
  bool is_new = true;  // not a further part of a wide one

  [[nodiscard]] simulate::AccessKind kind() const {
    return is_store ? simulate::AccessKind::store : simulate::AccessKind::load;
  }
};

template <bool kCycles>
[[gnu::always_inline]] inline void time_access(Core& core, const Access& access,
                                               simulate::PackedOutcome outcome) {
  if constexpr (!kCycles) return;
  if (!access.is_store) core.clock->load(access.place.index, outcome, access.address);
  if (access.is_store && (access.is_new || !outcome.plain_hit())) {
    core.clock->store(access.place.index, outcome, access.address);
  }
}

/// A further part of an access, in a line that it has been in.
template <Model kModel>
void model_more(Core& core, const Access& access) {
  simulate::access_more<kModel.locality>(*core.memory, access.address, access.bytes);
  time_access<kModel.cycles>(core, access, {});
}

template <Model kModel>
[[gnu::noinline]] void model_unusual(Core& core, Access access) {
  const simulate::PackedOutcome outcome = simulate::access_unusual<kModel.locality>(
      *core.memory, access.address, access.bytes, access.kind(), access.place.site);
  time_access<kModel.cycles>(core, access, outcome);
  if (outcome.plain_hit()) return;
  const bool is_store = access.is_store;
  count_outcome(core.shared.counts[access.place.site], outcome,
                is_store ? Counter::store_l2 : Counter::load_l2,
                is_store ? Counter::store_second_tlb : Counter::load_second_tlb,
                Counter::data_walk_cycles);
}

template <Model kModel>
[[gnu::always_inline]] inline void model_access(Core& core, const Access& access) {
  const bool is_usual = simulate::access_usual<kModel.locality>(
      *core.memory, access.address, access.bytes, access.kind(), access.place.site);
  if (!is_usual) [[unlikely]]
    return model_unusual<kModel>(core, access);
  time_access<kModel.cycles>(core, access, {});
}

template <Model kModel, bool kIsKnown>
void memory_is_accessed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* data) {
  clear_upper_halves();
  Core* const core = counting[vcpu];
  if (core == nullptr) return;
  const AccessShape& shape = core->shapes.find(info);
  const AccessPlace place = AccessPlace::of(data);
  const bool is_new = !core->goes_on(place.site, address, shape);
  if constexpr (!kIsKnown) count_access(*core, place.site, shape, is_new);
  if constexpr (!kModel.caches) return;
  const Access access{place, address, shape.bytes, shape.is_store, is_new};
  if (!is_new && simulate::is_in_line_before(*core->memory, address, shape.bytes)) {
    model_more<kModel>(*core, access);
  } else {
    model_access<kModel>(*core, access);
  }
}

/// Most accesses: a load, or a store, of which all is known.
template <Model kModel, bool kIsStore>
void known_access(unsigned vcpu, qemu_plugin_meminfo_t, uint64_t address, void* data) {
  Core* const core = counting[vcpu];
  if (core == nullptr) return;
  const AccessPlace place = AccessPlace::of(data);
  model_access<kModel>(*core, {place, address, place.bytes, kIsStore});
}

template <Model kModel>
Callbacks callbacks_of() {
  Callbacks callbacks{.block_runs = block_runs<kModel>,
                      .memory_is_accessed = memory_is_accessed<kModel, false>};
  if constexpr (kModel.caches) {
    callbacks.known = memory_is_accessed<kModel, true>;
    callbacks.load = known_access<kModel, false>;
    callbacks.store = known_access<kModel, true>;
  }
  return callbacks;
}

template <bool kCycles>
Callbacks callbacks_with_machine() {
  using simulate::Locality;
  switch (locality) {
    case Locality::off:
      return callbacks_of<Model{true, Locality::off, kCycles}>();
    case Locality::l1:
      return callbacks_of<Model{true, Locality::l1, kCycles}>();
    case Locality::all:
      return callbacks_of<Model{true, Locality::all, kCycles}>();
  }
  return {};
}

}  // namespace

void check_limit(uint64_t own_before, uint64_t own_now) {
  constexpr uint64_t kLimitStep = 4096;  // instructions between looks at the other cores
  if (own_before / kLimitStep == own_now / kLimitStep) return;
  uint64_t all = 0;
  for (const Core* core : cores) {
    if (core != nullptr) all += core->shared.header->instructions.load(std::memory_order_relaxed);
  }
  if (all < instruction_limit) return;
  instruction_limit = UINT64_MAX;
  limit_reached();
}

void Core::forget_previous() {
  previous = &kNoBlock;
}

void forget_core(unsigned number) {
  cores[number] = counting[number] = nullptr;
}

void set_instruction_limit(uint64_t instructions, void (*reached)()) {
  instruction_limit = instructions;
  limit_reached = reached;
}

bool start_core(CountsWriter& writer, uint32_t number) {
  if (number >= file::kMaxCores) return false;
  const CoreCounts shared = writer.core(number);
  if (shared.header == nullptr) return false;
  if (cores[number] == nullptr) cores[number] = new Core;
  // A number is used again when its thread has ended: the same core, its caches as they are.
  Core& core = *cores[number];
  core = Core{.shared = shared,
              .shapes = {},
              .memory = core.memory,
              .predictor = core.predictor,
              .clock = std::move(core.clock),
              .ticks_before = core.ticks_before,
              .previous = &kNoBlock,
              .region = {}};
  counting[number] = is_region_watched ? nullptr : &core;
  if (machine && core.memory == nullptr) {
    core.memory = &machine->add_core();
    if (!machine->sample().is_all()) return true;
    core.predictor = new simulate::BranchPredictor(machine->machine().branch);
    if (has_cycles) {
      core.clock = std::make_unique<simulate::IntervalCore>(machine->machine(), shared.ticks);
    }
  }
  return true;
}

void set_machine(std::unique_ptr<simulate::Hierarchy> model, simulate::Locality recorded,
                 bool cycles) {
  machine = std::move(model);
  locality = recorded;
  has_cycles = cycles;
}

void set_huge_pages(uint64_t begin, uint64_t end, bool huge) {
  constexpr uint64_t kHugePage = uint64_t{1} << simulate::kHugePageShift;
  const uint64_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  if (machine && begin <= first) machine->set_huge_pages(first, end / kHugePage * kHugePage, huge);
}

void renew_clocks() {
  for (Core* core : cores) {
    if (core != nullptr && core->clock) core->ticks_before = core->clock->now();
  }
}

void renew_machine() {
  if (!machine) return;
  simulate::HierarchyOptions options;
  options.locality = locality;
  auto renewed = simulate::Hierarchy::make(machine->machine(), options);
  // The old one stays: its locks may be held by threads that the child does not have.
  static_cast<void>(machine.release());
  machine = *std::move(renewed);
  for (Core* core : cores) {
    if (core != nullptr && core->memory != nullptr) core->memory = &machine->add_core();
  }
}

simulate::Hierarchy* stop_machine(unsigned vcpu) {
  if (!machine || locality == simulate::Locality::off) return nullptr;
  bool is_any_running = false;
  for (unsigned number = 0; number < file::kMaxCores; ++number) {
    Core* const core = cores[number];
    forget_core(number);
    const bool is_other = core != nullptr && number != vcpu;
    is_any_running = is_any_running || (is_other && core->system_call_start_ns == 0);
  }
  // Their callbacks return at once from now on; those under way take far less than this.
  constexpr useconds_t kLetThemLeaveUs = 20'000;
  if (is_any_running) ::usleep(kLetThemLeaveUs);
  return machine.release();
}

Callbacks execution_callbacks() {
  if (!machine) return callbacks_of<Model{}>();
  if (!machine->sample().is_all()) return sampled_callbacks(*machine);
  return has_cycles ? callbacks_with_machine<true>() : callbacks_with_machine<false>();
}

}  // namespace culprit
