#include "simulate/machine/cycles.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace culprit::simulate {
namespace {

/// Adds `amount` to the entries in proportion to `weights` (to the last entry if all are 0):
/// whole ticks, and exactly `amount` in sum.
void share_out(Ticks amount, CycleClass kind, std::span<const double> weights,
               std::vector<CycleParts>& parts) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!(sum > 0)) {
    parts.back()[kind] += amount;
    return;
  }
  double until = 0;
  Ticks given = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    until += weights[i];
    const bool last = i + 1 == parts.size();
    const Ticks up_to =
        last ? amount
             : std::min(amount, static_cast<Ticks>(static_cast<double>(amount) * (until / sum)));
    parts[i][kind] += up_to - given;
    given = up_to;
  }
}

template <class Weight>
std::vector<double> weigh(std::span<const InstructionCosts> instructions, Weight weight) {
  std::vector<double> weights;
  weights.reserve(instructions.size());
  for (const InstructionCosts& one : instructions) weights.push_back(weight(one));
  return weights;
}

/// The width's time, instruction by instruction, and the part of it that handles calls.
void add_base(std::span<const InstructionCosts> instructions, Ticks base, const CoreSettings& core,
              std::vector<CycleParts>& parts) {
  Ticks left = base;
  for (size_t i = 0; i < instructions.size(); ++i) {
    if (!instructions[i].is_call) continue;
    const Ticks overhead = std::min(left, Ticks{core.call_cycles} * kTicksPerCycle);
    parts[i][CycleClass::call_overhead] += overhead;
    left -= overhead;
  }
  const auto by_uops = [&](bool of_frames) {
    return weigh(instructions, [&](const InstructionCosts& one) {
      return one.is_of_frame == of_frames ? double{1} * one.uops : 0.0;
    });
  };
  double frames = 0;
  double all = 0;
  for (const InstructionCosts& one : instructions) {
    all += one.uops;
    if (one.is_of_frame) frames += one.uops;
  }
  const auto of_frames =
      all > 0 ? static_cast<Ticks>(static_cast<double>(left) * frames / all) : Ticks{0};
  share_out(of_frames, CycleClass::call_overhead, by_uops(true), parts);
  share_out(left - of_frames, CycleClass::base, by_uops(false), parts);
}

template <class Whole>
Whole at_most(uint64_t value) {
  return static_cast<Whole>(std::min<uint64_t>(value, std::numeric_limits<Whole>::max()));
}

/// Moves of general registers, and what changes a slot in place. A scaled address takes a cycle
/// more.
bool may_rename(const InstructionCosts& costs) {
  if (costs.loads == 0) return false;
  if (costs.stores != 0) return costs.latency_cycles <= 1;
  const bool is_scaled = costs.addresses[1] != kNoRegister;
  return costs.reads[0] == kNoRegister && costs.latency_cycles <= (is_scaled ? 1 : 0);
}

StepKind find_kind(const Step& step) {
  const auto has = [](Register number) { return number != kNoRegister && number != kNowhere; };
  const bool has_more = has(step.writes[2]) || has(step.updates) || has(step.addresses[2]);
  if (has_more || has(step.reads[2]) || has(step.reads[3])) return StepKind::other;
  if (step.is_load) return has(step.reads[1]) ? StepKind::other : StepKind::simple_load;
  const bool has_address = has(step.addresses[0]) || has(step.addresses[1]);
  return has_address ? StepKind::other : StepKind::simple;
}

/// Makes the steps, which say when each instruction is dispatched, from the parts of all
/// instructions.
std::vector<Step> make_steps(std::span<const InstructionCosts> instructions,
                             std::span<const CycleParts> parts) {
  std::vector<Step> steps;
  steps.reserve(instructions.size());
  uint64_t dispatched = 0;
  uint64_t uops = 0;
  uint64_t loads = 0;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const InstructionCosts& costs = instructions[i];
    dispatched += parts[i].total();
    uops += costs.uops;
    loads += costs.loads;
    Step step;
    step.dispatched = at_most<uint32_t>(dispatched);
    step.latency = at_most<uint32_t>(to_ticks(costs.latency_cycles));
    step.uops = at_most<uint16_t>(uops);
    step.loads = at_most<uint16_t>(loads);
    step.reads = costs.reads;
    step.addresses = costs.addresses;
    step.writes = costs.writes;
    std::replace(step.writes.begin(), step.writes.end(), kNoRegister, kNowhere);
    step.updates = costs.updates == kNoRegister ? kNowhere : costs.updates;
    step.is_load = costs.loads != 0;
    step.divides = costs.divider_cycles > 0;
    step.is_microcode = costs.is_microcode;
    step.is_exclusive = costs.exclusive_cycles > 0;
    step.renames = may_rename(costs);
    step.kind = find_kind(step);
    steps.push_back(step);
  }
  return steps;
}

std::vector<StaticCost> list_costs(std::span<const CycleParts> parts) {
  std::vector<StaticCost> costs;
  for (size_t i = 0; i < parts.size(); ++i) {
    for (size_t kind = 0; kind < parts[i].ticks.size(); ++kind) {
      const bool is_base = kind == static_cast<size_t>(CycleClass::base);
      if (is_base || parts[i].ticks[kind] == 0) continue;
      costs.push_back({at_most<uint32_t>(parts[i].ticks[kind]), at_most<uint16_t>(i),
                       static_cast<CycleClass>(kind)});
    }
  }
  costs.shrink_to_fit();
  return costs;
}

}  // namespace

void CycleParts::add(const CycleParts& other) {
  for (size_t i = 0; i < ticks.size(); ++i) ticks[i] += other.ticks[i];
}

void Busy::add(const Busy& other) {
  miss_buffers_full += other.miss_buffers_full;
  store_queue_full += other.store_queue_full;
  scheduler_empty += other.scheduler_empty;
  wrong_path += other.wrong_path;
}

Ticks CycleParts::total() const {
  return std::accumulate(ticks.begin(), ticks.end(), Ticks{0});
}

Ticks CycleParts::stalled() const {
  return std::accumulate(ticks.begin(), ticks.begin() + kStalledClasses, Ticks{0});
}

BlockCycles compute_block_cycles(std::span<const InstructionCosts> instructions,
                                 const BlockCosts& block, const CoreSettings& core) {
  CHECK(!instructions.empty());
  BlockCycles cycles;
  cycles.instructions.resize(instructions.size());
  double divider = 0;
  double exclusive = 0;
  for (const InstructionCosts& one : instructions) {
    cycles.uops += one.uops;
    cycles.loads += one.loads;
    divider += one.divider_cycles;
    exclusive += one.exclusive_cycles;
  }
  const Ticks base = Ticks{cycles.uops} * kTicksPerCycle / core.dispatch_width;
  add_base(instructions, base, core, cycles.instructions);

  struct Limit {
    Ticks ticks;
    CycleClass kind;
    std::vector<double> weights;
  };
  const Limit limits[] = {
      {to_ticks(block.port_cycles), CycleClass::port_saturation,
       weigh(instructions, [](const InstructionCosts& one) { return one.port_cycles; })},
      {to_ticks(divider), CycleClass::instruction_latency,
       weigh(instructions, [](const InstructionCosts& one) { return one.divider_cycles; })},
      {to_ticks(exclusive), CycleClass::serialization,
       weigh(instructions, [](const InstructionCosts& one) { return one.exclusive_cycles; })},
      {to_ticks(block.fetch_cycles), CycleClass::instruction_starvation,
       weigh(instructions, [](const InstructionCosts&) { return 1.0; })}};
  const Limit& largest = *std::max_element(
      std::begin(limits), std::end(limits),
      [](const Limit& one, const Limit& other) { return one.ticks < other.ticks; });
  if (largest.ticks > base) {
    share_out(largest.ticks - base, largest.kind, largest.weights, cycles.instructions);
  }
  for (size_t i = 0; i < instructions.size(); ++i) {
    CycleParts& parts = cycles.instructions[i];
    parts[CycleClass::microcode] += to_ticks(instructions[i].microcode_cycles);
    parts[CycleClass::serialization] += to_ticks(instructions[i].serialize_cycles);
    cycles.total += parts.total();
  }
  cycles.steps = make_steps(instructions, cycles.instructions);
  cycles.costs = list_costs(cycles.instructions);
  return cycles;
}

}  // namespace culprit::simulate
