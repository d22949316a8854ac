#include "simulate/machine/forecast.h"

#include <algorithm>
#include <tsl/robin_map.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace culprit::simulate {
namespace {

// What a division becomes: a multiplication by the reciprocal, and a shift.
constexpr uint32_t kMultiplication = 5 * kTicksPerCycle;
// What a chain becomes: several sums that take turns.
constexpr uint32_t kChains = 4;

/// The class of a block's own time that goes; none: nothing of it.
bool is_static(Change change, CycleClass* kind) {
  switch (change) {
    case Change::starvation:
      *kind = CycleClass::instruction_starvation;
      return true;
    case Change::divider:
      *kind = CycleClass::instruction_latency;
      return true;
    case Change::chains:
      *kind = CycleClass::serialization;
      return true;
    case Change::ports:
      *kind = CycleClass::port_saturation;
      return true;
    case Change::calls:
      *kind = CycleClass::call_overhead;
      return true;
    case Change::microcode:
      *kind = CycleClass::microcode;
      return true;
    default:
      return false;
  }
}

bool has_infinite_bandwidth(Change change) {
  return change == Change::bandwidth || change == Change::data;
}
bool has_fast_loads(Change change) {
  return change == Change::load_latency || change == Change::data;
}

/// Whether latency of data from there goes.
bool is_gone(Change change, DataSource source) {
  if (has_fast_loads(change)) return true;
  switch (source) {
    case DataSource::l1:
      return false;
    case DataSource::l2:
      return change == Change::l2;
    case DataSource::l3:
      return change == Change::l3;
    case DataSource::other_core_clean:
    case DataSource::other_core_modified:
      return change == Change::sharing;
    case DataSource::memory:
      return change == Change::memory;
  }
  return false;
}

MachineModel machine_without(MachineModel machine, Change change) {
  if (has_infinite_bandwidth(change)) {
    constexpr double kUnlimited = 1e9;  // bytes per cycle: a line takes no tick
    constexpr uint32_t kManyBuffers = 512;
    machine.memory.bytes_per_cycle = kUnlimited;
    machine.memory.l2_bytes_per_cycle = kUnlimited;
    machine.memory.shared_bytes_per_cycle = kUnlimited;
    machine.core.miss_buffers = std::max(machine.core.miss_buffers, kManyBuffers);
  }
  if (has_fast_loads(change)) machine.memory.l1d_set_cycles = 0;
  if (has_fast_loads(change) || change == Change::forwarding) {
    machine.core.forward_refused_cycles = 0;
    machine.core.alias_cycles = 0;
  }
  if (change == Change::chains) machine.l1d.latency_cycles /= kChains;
  if (change == Change::slow_bandwidth) {
    machine.memory.bytes_per_cycle /= 2;
    machine.memory.shared_bytes_per_cycle /= 2;
  }
  return machine;
}

bool is_far(DataSource source) {
  return source != DataSource::l1 && source != DataSource::l2;
}

uint16_t twice(uint16_t cycles) {
  return static_cast<uint16_t>(std::min<uint32_t>(2U * cycles, UINT16_MAX));
}

uint16_t latency_with(Change change, DataSource source, uint16_t cycles) {
  if (is_gone(change, source)) return 0;
  return change == Change::slow_latency && is_far(source) ? twice(cycles) : cycles;
}

PackedOutcome load_without(PackedOutcome packed, Change change) {
  if (packed.plain_hit()) return packed;
  Outcome outcome = packed;
  outcome.latency_cycles = latency_with(change, outcome.source, outcome.latency_cycles);
  if (change == Change::slow_latency) outcome.walk_cycles = twice(outcome.walk_cycles);
  if (has_fast_loads(change) || change == Change::translation) outcome.walk_cycles = 0;
  return outcome;
}

PackedOutcome store_without(PackedOutcome packed, Change change) {
  if (packed.plain_hit()) return packed;
  if (change == Change::stores) return {};
  Outcome outcome = packed;
  const bool is_shared = outcome.upgraded || outcome.source == DataSource::other_core_clean ||
                         outcome.source == DataSource::other_core_modified;
  if (change == Change::sharing && is_shared) return {};
  if (change == Change::translation) outcome.walk_cycles = 0;
  return outcome;
}

/// A block without a class of its own costs.
struct Variant {
  BlockCycles cycles;        // its steps' sites are places (Replay)
  std::vector<Ticks> ticks;  // by instruction
};

/// What each instruction takes by itself.
std::vector<Ticks> ticks_of(const BlockCycles& block) {
  std::vector<Ticks> ticks;
  ticks.reserve(block.steps.size());
  Ticks before = 0;
  for (const Step& step : block.steps) {
    ticks.push_back(step.dispatched - before);
    before = step.dispatched;
  }
  return ticks;
}

Variant make_variant(const BlockCycles& block, Change change) {
  Variant variant;
  BlockCycles& cycles = variant.cycles;
  cycles.uops = block.uops;
  cycles.loads = block.loads;
  cycles.steps = block.steps;
  variant.ticks = ticks_of(block);
  CycleClass kind;
  if (is_static(change, &kind)) {
    for (const StaticCost& cost : block.costs) {
      if (cost.kind == kind) variant.ticks[cost.step] -= cost.ticks;
    }
  }
  for (size_t i = 0; i < cycles.steps.size(); ++i) {
    cycles.total += variant.ticks[i];
    Step& step = cycles.steps[i];
    step.dispatched = static_cast<uint32_t>(std::min<Ticks>(cycles.total, UINT32_MAX));
    if (change == Change::divider && step.divides) {
      step.latency = std::min<uint32_t>(step.latency, kMultiplication);
      step.divides = false;
    }
    if (change == Change::microcode && step.is_microcode) {
      step.latency = std::min<uint32_t>(step.latency, kMultiplication);
      step.is_microcode = false;
    }
    if (change == Change::chains && !step.is_microcode) step.latency /= kChains;
  }
  return variant;
}

/// One stretch, run again and again. The sites that may have time in it are numbered: what is kept
/// by site is as large as the stretch, not as the program. All of it goes with the stretch, as a
/// program may have thousands of threads that wait.
class Replay {
 public:
  Replay(const MachineModel& machine, CoreTrace trace)
      : machine_(machine), trace_(std::move(trace)) {
    number_sites();
    usual_ = make_variants(Change::nothing);
  }

  /// Adds what the stretch takes by instruction, as it is and without each class.
  void add_all(ReplayTicks* sites) {
    run(Change::nothing, sites);
    for (const BlockRuns& one : runs_) {
      Ticks base = one.block->total;
      for (const StaticCost& cost : one.block->costs) {
        has_[cost.kind] += one.runs * cost.ticks;
        base -= cost.ticks;
      }
      has_[CycleClass::base] += one.runs * base;
    }
    for (int i = 1; i < kReplays; ++i) {
      const auto change = static_cast<Change>(i);
      if (is_worth_it(change)) {
        run(change, sites);
      } else {  // it takes as long as the stretch as it is
        for (size_t j = 0; j < touched_.size(); ++j) {
          sites[touched_[j]].ticks[static_cast<size_t>(i)] += as_it_is_[j];
        }
      }
    }
  }

 private:
  struct BlockRuns {
    const BlockCycles* block;
    uint64_t runs;
  };

  void number_sites();
  [[nodiscard]] bool is_worth_it(Change change) const;
  [[nodiscard]] std::vector<Variant> make_variants(Change change) const;
  void tell(const CoreEvent& event, Change change, PrefetchedLines& lines, IntervalCore& core);
  void run(Change change, ReplayTicks* sites);

  const MachineModel& machine_;
  CoreTrace trace_;              // its sites are places; begin_block: `address` is its row in runs_
  std::vector<BlockRuns> runs_;  // each block once
  std::vector<Site> touched_;    // sites, by place
  std::vector<Site> places_;     // of the steps of all runs_, one behind the other
  std::vector<Variant> usual_;   // parallel to runs_
  std::vector<Ticks> as_it_is_;  // by place: the first run
  CycleParts has_;               // of the stretch, by the first run
  uint64_t far_lines_ = 0;       // of it, beyond L2, and page walks
};

/// Whether the stretch has so much of the class that time without it may be another.
bool Replay::is_worth_it(Change change) const {
  constexpr Ticks kLittle = 1000;  // of all, one part in so many is
  const auto has_much = [&](std::initializer_list<CycleClass> kinds) {
    Ticks sum = 0;
    for (const CycleClass kind : kinds) sum += has_[kind];
    return sum > has_.total() / kLittle;
  };
  using enum CycleClass;
  switch (change) {
    case Change::nothing:
      return false;
    case Change::load_latency:
      return has_much({load_l2, load_l3, load_other_core_clean, load_other_core_modified,
                       load_memory, load_translation, load_forward_refused, load_alias});
    case Change::bandwidth:
      return has_much({bandwidth_saturation});
    case Change::data:
      return has_much({bandwidth_saturation, load_l2, load_l3, load_other_core_clean,
                       load_other_core_modified, load_memory, load_translation,
                       load_forward_refused, load_alias});
    case Change::l2:
      return has_much({load_l2});
    case Change::l3:
      return has_much({load_l3});
    case Change::memory:
      return has_much({load_memory});
    case Change::translation:
      return has_much({load_translation});
    case Change::sharing:
      return has_much({load_other_core_clean, load_other_core_modified, store_saturation});
    case Change::forwarding:
      return has_much({load_forward_refused, load_alias});
    case Change::misprediction:
      return has_much({branch_misprediction});
    case Change::starvation:
      return has_much({instruction_starvation});
    case Change::stores:
      return has_much({store_saturation, bandwidth_saturation});
    case Change::divider:
      return has_much({instruction_latency});
    case Change::chains:
      return has_much({serialization});
    case Change::ports:
      return has_much({port_saturation});
    case Change::calls:
      return has_much({call_overhead});
    case Change::microcode:
      return has_much({microcode});
    case Change::slow_latency:
    case Change::slow_bandwidth:
      return far_lines_ > 0;
  }
  return false;
}

void Replay::number_sites() {
  tsl::robin_map<Site, Site> known;
  const auto place_of = [&](Site site) {
    const auto [at, is_new] = known.try_emplace(site, static_cast<Site>(touched_.size()));
    if (is_new) touched_.push_back(site);
    return at->second;
  };
  place_of(0);
  std::unordered_map<const BlockCycles*, size_t> rows;
  std::vector<size_t> row_of;  // of each begin_block
  for (const BlockCycles* const block : trace_.blocks()) {
    const auto [at, is_new] = rows.try_emplace(block, runs_.size());
    if (is_new) {
      runs_.push_back({block, 0});
      for (const Step& step : block->steps) places_.push_back(place_of(step.site));
    }
    ++runs_[at->second].runs;
    row_of.push_back(at->second);
  }
  for (CoreEvent& event : trace_.events()) {
    event.site = place_of(event.site);
    if (event.kind == CoreEventKind::begin_block) event.address = row_of[event.address];
    const Outcome outcome = event.outcome;
    const bool is_slow = is_far(outcome.source) || outcome.walk_cycles != 0;
    far_lines_ += outcome.shared_lines + outcome.memory_lines + (is_slow ? 1U : 0U);
  }
}

std::vector<Variant> Replay::make_variants(Change change) const {
  std::vector<Variant> variants;
  variants.reserve(runs_.size());
  auto place = places_.begin();
  for (const BlockRuns& one : runs_) {
    variants.push_back(make_variant(*one.block, change));
    for (Step& step : variants.back().cycles.steps) step.site = *place++;
  }
  return variants;
}

/// Tells the core what happened, but for what the change takes away.
void Replay::tell(const CoreEvent& event, Change change, PrefetchedLines& lines,
                  IntervalCore& core) {
  switch (event.kind) {
    case CoreEventKind::begin_block:  // its blocks are the caller's to know
      break;
    case CoreEventKind::end_block:
      core.end_block();
      break;
    case CoreEventKind::load:
      core.load(event.step, load_without(event.outcome, change), event.address, event.bytes,
                event.is_part, event.site);
      break;
    case CoreEventKind::store:
      core.store(event.step, store_without(event.outcome, change), event.address, event.bytes,
                 event.site);
      break;
    case CoreEventKind::store_part:
      core.store_part(event.address, event.bytes);
      break;
    case CoreEventKind::microcode:
      if (change != Change::microcode) core.spend_microcode(event.site, event.address);
      break;
    case CoreEventKind::prefetch:
      lines.add(
          {event.address, event.source, latency_with(change, event.source, event.latency_cycles)});
      if (event.is_last) core.prefetch(lines);
      break;
    case CoreEventKind::branch:
      if (change != Change::misprediction) core.branch(event.site, event.misprediction);
      break;
    case CoreEventKind::taken:
      if (change != (event.is_of_call ? Change::calls : Change::starvation)) {
        core.taken(event.site, event.is_of_call);
      }
      break;
    case CoreEventKind::fetch:
      if (change != Change::starvation) core.fetch(event.site, event.outcome);
      break;
  }
}

void Replay::run(Change change, ReplayTicks* sites) {
  std::vector<Variant> changed;
  CycleClass kind;
  if (is_static(change, &kind)) changed = make_variants(change);
  const std::vector<Variant>& variants = changed.empty() ? usual_ : changed;
  const MachineModel machine = machine_without(machine_, change);
  std::vector<SiteTicks> times(touched_.size());
  IntervalCore core(machine, times.data());
  PrefetchedLines lines;
  for (const CoreEvent& event : trace_.events()) {
    if (event.kind == CoreEventKind::begin_block) {
      core.begin_block(variants[event.address].cycles);
    } else {
      tell(event, change, lines, core);
    }
  }
  const auto index = static_cast<size_t>(change);
  const bool is_first = change == Change::nothing;
  if (is_first) as_it_is_.assign(touched_.size(), 0);
  for (size_t place = 0; place < touched_.size(); ++place) {
    const CycleParts& stalls = times[place].stalls;
    sites[touched_[place]].ticks[index] += stalls.total();
    if (is_first) {
      as_it_is_[place] = stalls.total();
      has_.add(stalls);
    }
  }
  auto place = places_.begin();
  for (size_t i = 0; i < runs_.size(); ++i) {
    for (const Ticks own : variants[i].ticks) {
      const Ticks ticks = runs_[i].runs * own;
      sites[touched_[*place]].ticks[index] += ticks;
      if (is_first) as_it_is_[*place] += ticks;
      ++place;
    }
  }
}

}  // namespace

uint64_t Forecaster::draw_pause() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return kPause / 2 + random_ % kPause;
}

void Forecaster::turn(IntervalCore& core) {
  if (is_tracing_) return stop(core);
  is_tracing_ = true;
  left_ = kStretch;
  core.set_trace(&trace_);
}

void Forecaster::stop(IntervalCore& core) {
  if (!is_tracing_) return;
  is_tracing_ = false;
  core.set_trace(nullptr);
  left_ = draw_pause();
  Replay(machine_, std::exchange(trace_, {})).add_all(sites_);
}

}  // namespace culprit::simulate
