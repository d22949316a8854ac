#include "simulate/simulated_events.h"

#include <algorithm>
#include <span>

#include "model/forecast_events.h"

namespace culprit {
namespace {

using counts_file::ControlFlow;
using counts_file::Counter;
using counts_file::Site;
using counts_file::SiteCounts;
using simulate::Busy;
using simulate::CycleClass;

uint64_t get(const SiteCounts& counts, Counter counter) {
  return counts.value[static_cast<size_t>(counter)];
}

bool is_branch(const Site& site) {
  return site.branch != ControlFlow::none && site.branch != ControlFlow::system_call;
}

bool is_call(const Site& site) {
  return site.branch == ControlFlow::call || site.branch == ControlFlow::indirect_call;
}

bool is_float(const Site& site) {
  return (site.flags & counts_file::kFloat) != 0;
}

/// A repeated string instruction is one, as hardware counts it, however often it goes round.
uint64_t instructions(const SimulatedSite& of) {
  const uint64_t repeats = get(of.counts, Counter::repeats);
  return of.executions > repeats ? of.executions - repeats : 0;
}

uint64_t branches(const SimulatedSite& of) {
  return is_branch(of.site) ? of.executions : 0;
}

uint64_t branches_taken(const SimulatedSite& of) {
  if (!is_branch(of.site)) return 0;
  return of.site.branch == ControlFlow::conditional ? get(of.counts, Counter::taken)
                                                    : of.executions;
}

uint64_t calls(const SimulatedSite& of) {
  return is_call(of.site) ? of.executions : 0;
}

template <Counter counter>
uint64_t counted(const SimulatedSite& of) {
  return get(of.counts, counter);
}

template <Counter counter>
uint64_t counted_float(const SimulatedSite& of) {
  return is_float(of.site) ? get(of.counts, counter) : 0;
}

/// The sum of counters that follow each other.
template <Counter first, Counter last>
uint64_t sum(const SimulatedSite& of) {
  uint64_t total = 0;
  for (auto i = static_cast<size_t>(first); i <= static_cast<size_t>(last); ++i) {
    total += of.counts.value[i];
  }
  return total;
}

uint64_t cycles(const SimulatedSite& of) {
  return of.ticks.stalls.total();
}

uint64_t stalled(const SimulatedSite& of) {
  return of.ticks.stalls.stalled();
}

uint64_t unstalled(const SimulatedSite& of) {
  return of.ticks.stalls.total() - of.ticks.stalls.stalled();
}

template <CycleClass kind>
uint64_t cycles_of(const SimulatedSite& of) {
  return of.ticks.stalls[kind];
}

template <simulate::Ticks simulate::Busy::* condition>
uint64_t cycles_with(const SimulatedSite& of) {
  return of.ticks.busy.*condition;
}

template <simulate::Change change>
uint64_t replayed(const SimulatedSite& of) {
  return of.replays.ticks[static_cast<size_t>(change)];
}

/// What happens at the address of an access.
constexpr SimulatedEvent of_data(std::string_view name, Unit unit,
                                 uint64_t (*value)(const SimulatedSite&)) {
  return {.name = name, .unit = unit, .value = value, .is_of_data = true};
}

constexpr SimulatedEvent of_accesses(std::string_view name, Unit unit,
                                     uint64_t (*value)(const SimulatedSite&),
                                     double (*variance)(const SimulatedSite&)) {
  SimulatedEvent event = of_data(name, unit, value);
  event.variance = variance;
  return event;
}

double load_variance(const SimulatedSite& of) {
  return of.load_variance;
}
double store_variance(const SimulatedSite& of) {
  return of.store_variance;
}
double float_load_variance(const SimulatedSite& of) {
  return is_float(of.site) ? of.load_variance : 0;
}
double float_store_variance(const SimulatedSite& of) {
  return is_float(of.site) ? of.store_variance : 0;
}
double load_bytes_variance(const SimulatedSite& of) {
  return of.load_variance * of.site.load_bytes * of.site.load_bytes;
}
double store_bytes_variance(const SimulatedSite& of) {
  return of.store_variance * of.site.store_bytes * of.site.store_bytes;
}

constexpr auto kCount = Unit::events;
constexpr SimulatedEvent kOfProgram[] = {
    {"instructions", kCount, 1, instructions},
    {"branches", kCount, 1, branches},
    {"branches-taken", kCount, 1, branches_taken},
    {"calls", kCount, 1, calls},
    of_accesses("L1-dcache-loads", kCount, counted<Counter::loads>, load_variance),
    of_accesses("L1-dcache-stores", kCount, counted<Counter::stores>, store_variance),
    of_accesses("fp-loads", kCount, counted_float<Counter::loads>, float_load_variance),
    of_accesses("fp-stores", kCount, counted_float<Counter::stores>, float_store_variance),
    of_accesses("load-bytes", Unit::bytes, counted<Counter::load_bytes>, load_bytes_variance),
    of_accesses("store-bytes", Unit::bytes, counted<Counter::store_bytes>, store_bytes_variance),
};

// These are counted by cache set, and can be of a sample of them.
constexpr SimulatedEvent kOfSets[] = {
    of_data("L1-dcache-load-misses", kCount, sum<Counter::load_l2, Counter::load_memory>),
    of_data("L1-dcache-store-misses", kCount, sum<Counter::store_l2, Counter::store_memory>),
    {"L1-icache-load-misses", kCount, 1, sum<Counter::fetch_l2, Counter::fetch_memory>},
    // What L2 did not have.
    of_data("LLC-loads", kCount, sum<Counter::load_l3, Counter::load_memory>),
    of_data("LLC-stores", kCount, sum<Counter::store_l3, Counter::store_memory>),
    of_data("LLC-load-misses", kCount, counted<Counter::load_memory>),
    of_data("LLC-store-misses", kCount, counted<Counter::store_memory>),
    {"LLC-code-misses", kCount, 1, counted<Counter::fetch_memory>},
    of_data("other-core-clean-loads", kCount, counted<Counter::load_other_core_clean>),
    of_data("other-core-modified-loads", kCount, counted<Counter::load_other_core_modified>),
    of_data("other-core-clean-stores", kCount, counted<Counter::store_other_core_clean>),
    of_data("other-core-modified-stores", kCount, counted<Counter::store_other_core_modified>),
};

constexpr SimulatedEvent kOfMachine[] = {
    {"branch-misses", kCount, 1, counted<Counter::mispredicted>},
    {"late-branch-targets", kCount, 1, counted<Counter::late_targets>},
    // These are misses as perf means them: no TLB had the page, and its table was walked.
    of_data("dTLB-load-misses", kCount, counted<Counter::load_walks>),
    of_data("dTLB-store-misses", kCount, counted<Counter::store_walks>),
    {"iTLB-load-misses", kCount, 1, counted<Counter::fetch_walks>},
    of_data("second-TLB-load-hits", kCount, counted<Counter::load_second_tlb>),
    of_data("second-TLB-store-hits", kCount, counted<Counter::store_second_tlb>),
    {"second-TLB-code-hits", kCount, 1, counted<Counter::fetch_second_tlb>},
    of_data("sim:data-walk-cycles", Unit::cycles, counted<Counter::data_walk_cycles>),
    {"sim:code-walk-cycles", Unit::cycles, 1, counted<Counter::fetch_walk_cycles>},
};

constexpr auto kCycles = Unit::cycles;
constexpr double kTick = 1.0 / static_cast<double>(simulate::kTicksPerCycle);
constexpr SimulatedEvent kOfCycles[] = {
    {"sim:cycles", kCycles, kTick, cycles},
    {"sim:stalled-cycles", kCycles, kTick, stalled},
    {"sim:unstalled-cycles", kCycles, kTick, unstalled},
    // Each cycle is in one of these.
    {"sim:load-l2-cycles", kCycles, kTick, cycles_of<CycleClass::load_l2>},
    {"sim:load-l3-cycles", kCycles, kTick, cycles_of<CycleClass::load_l3>},
    {"sim:load-other-core-clean-cycles", kCycles, kTick,
     cycles_of<CycleClass::load_other_core_clean>},
    {"sim:load-other-core-modified-cycles", kCycles, kTick,
     cycles_of<CycleClass::load_other_core_modified>},
    {"sim:load-memory-cycles", kCycles, kTick, cycles_of<CycleClass::load_memory>},
    {"sim:load-translation-cycles", kCycles, kTick, cycles_of<CycleClass::load_translation>},
    {"sim:forward-refused-cycles", kCycles, kTick, cycles_of<CycleClass::load_forward_refused>},
    {"sim:alias-cycles", kCycles, kTick, cycles_of<CycleClass::load_alias>},
    {"sim:bandwidth-cycles", kCycles, kTick, cycles_of<CycleClass::bandwidth_saturation>},
    {"sim:starvation-cycles", kCycles, kTick, cycles_of<CycleClass::instruction_starvation>},
    {"sim:divider-cycles", kCycles, kTick, cycles_of<CycleClass::instruction_latency>},
    {"sim:store-cycles", kCycles, kTick, cycles_of<CycleClass::store_saturation>},
    {"sim:misprediction-cycles", kCycles, kTick, cycles_of<CycleClass::branch_misprediction>},
    {"sim:port-cycles", kCycles, kTick, cycles_of<CycleClass::port_saturation>},
    {"sim:call-cycles", kCycles, kTick, cycles_of<CycleClass::call_overhead>},
    {"sim:serialization-cycles", kCycles, kTick, cycles_of<CycleClass::serialization>},
    {"sim:microcode-cycles", kCycles, kTick, cycles_of<CycleClass::microcode>},
    {"sim:base-cycles", kCycles, kTick, cycles_of<CycleClass::base>},
    // These say in how many cycles a condition held. They overlap.
    {"sim:miss-buffers-full-cycles", kCycles, kTick, cycles_with<&Busy::miss_buffers_full>},
    {"sim:store-queue-full-cycles", kCycles, kTick, cycles_with<&Busy::store_queue_full>},
    {"sim:scheduler-empty-cycles", kCycles, kTick, cycles_with<&Busy::scheduler_empty>},
    {"sim:wrong-path-cycles", kCycles, kTick, cycles_with<&Busy::wrong_path>},
};

// Stretches that ran again have these events, by what was changed (forecast_events.h).
using simulate::Change;
constexpr SimulatedEvent kOfReplays[] = {
    {kReplayedCycles, kCycles, kTick, replayed<Change::nothing>},
    {"sim:without-load-latency", kCycles, kTick, replayed<Change::load_latency>},
    {"sim:without-bandwidth-saturation", kCycles, kTick, replayed<Change::bandwidth>},
    {"sim:without-data", kCycles, kTick, replayed<Change::data>},
    {"sim:without-l2", kCycles, kTick, replayed<Change::l2>},
    {"sim:without-l3", kCycles, kTick, replayed<Change::l3>},
    {"sim:without-memory", kCycles, kTick, replayed<Change::memory>},
    {"sim:without-translation", kCycles, kTick, replayed<Change::translation>},
    {"sim:without-sharing", kCycles, kTick, replayed<Change::sharing>},
    {"sim:without-forwarding", kCycles, kTick, replayed<Change::forwarding>},
    {"sim:without-branch-misprediction", kCycles, kTick, replayed<Change::misprediction>},
    {"sim:without-instruction-starvation", kCycles, kTick, replayed<Change::starvation>},
    {"sim:without-store-resource-saturation", kCycles, kTick, replayed<Change::stores>},
    {"sim:without-instruction-latency", kCycles, kTick, replayed<Change::divider>},
    {"sim:without-instruction-serialization", kCycles, kTick, replayed<Change::chains>},
    {"sim:without-port-saturation", kCycles, kTick, replayed<Change::ports>},
    {"sim:without-function-call-overhead", kCycles, kTick, replayed<Change::calls>},
    {"sim:without-microcode-exceptions", kCycles, kTick, replayed<Change::microcode>},
    {kSlowLatencyCycles, kCycles, kTick, replayed<Change::slow_latency>},
    {kSlowBandwidthCycles, kCycles, kTick, replayed<Change::slow_bandwidth>},
};
static_assert(std::size(kOfReplays) == simulate::kReplays);

}  // namespace

std::vector<SimulatedEvent> simulated_events(SimulatedDetail detail) {
  std::vector<SimulatedEvent> events;
  const auto add = [&](std::span<const SimulatedEvent> more) {
    events.insert(events.end(), more.begin(), more.end());
  };
  if (detail.cycles) add(kOfCycles);
  add(kOfProgram);
  if (detail.machine) add(kOfSets);
  if (detail.sampled) {
    const std::span of_sets(events.end() - std::ssize(kOfSets), events.end());
    for (SimulatedEvent& event : of_sets) event.is_estimate = true;
  } else if (detail.machine) {
    add(kOfMachine);
  }
  if (detail.cycles) add(kOfReplays);
  if (detail.windows) {
    const auto is_of_program = [](const SimulatedEvent& event) {
      return std::any_of(std::begin(kOfProgram), std::end(kOfProgram),
                         [&](const SimulatedEvent& other) { return other.name == event.name; });
    };
    for (SimulatedEvent& event : events) event.is_of_windows = !is_of_program(event);
  }
  return events;
}

}  // namespace culprit
