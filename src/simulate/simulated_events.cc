#include "simulate/simulated_events.h"

#include <algorithm>

namespace culprit {
namespace {

using counts_file::Branch;
using counts_file::Counter;
using counts_file::Site;
using counts_file::SiteCounts;

uint64_t get(const SiteCounts& counts, Counter counter) {
  return counts.value[static_cast<size_t>(counter)];
}

bool is_branch(const Site& site) {
  return site.branch != Branch::none && site.branch != Branch::system_call;
}

bool is_call(const Site& site) {
  return site.branch == Branch::call || site.branch == Branch::indirect_call;
}

bool is_float(const Site& site) {
  return (site.flags & counts_file::kFloat) != 0;
}

/// A repeated string instruction is one, as hardware counts it, however often it goes round.
uint64_t instructions(const Site&, uint64_t executions, const SiteCounts& counts) {
  const uint64_t repeats = get(counts, Counter::repeats);
  return executions > repeats ? executions - repeats : 0;
}

uint64_t branches(const Site& site, uint64_t executions, const SiteCounts&) {
  return is_branch(site) ? executions : 0;
}

uint64_t branches_taken(const Site& site, uint64_t executions, const SiteCounts& counts) {
  if (!is_branch(site)) return 0;
  return site.branch == Branch::conditional ? get(counts, Counter::taken) : executions;
}

uint64_t calls(const Site& site, uint64_t executions, const SiteCounts&) {
  return is_call(site) ? executions : 0;
}

template <Counter counter>
uint64_t counted(const Site&, uint64_t, const SiteCounts& counts) {
  return get(counts, counter);
}

template <Counter counter>
uint64_t counted_float(const Site& site, uint64_t, const SiteCounts& counts) {
  return is_float(site) ? get(counts, counter) : 0;
}

/// Of counters that follow each other.
template <Counter first, Counter last>
uint64_t sum(const Site&, uint64_t, const SiteCounts& counts) {
  uint64_t total = 0;
  for (auto i = static_cast<size_t>(first); i <= static_cast<size_t>(last); ++i) {
    total += counts.value[i];
  }
  return total;
}

constexpr auto kCount = Unit::events;
constexpr SimulatedEvent kEvents[] = {
    {"instructions", kCount, false, instructions},
    {"branches", kCount, false, branches},
    {"branches-taken", kCount, false, branches_taken},
    {"calls", kCount, false, calls},
    {"L1-dcache-loads", kCount, false, counted<Counter::loads>},
    {"L1-dcache-stores", kCount, false, counted<Counter::stores>},
    {"fp-loads", kCount, false, counted_float<Counter::loads>},
    {"fp-stores", kCount, false, counted_float<Counter::stores>},
    {"load-bytes", Unit::bytes, false, counted<Counter::load_bytes>},
    {"store-bytes", Unit::bytes, false, counted<Counter::store_bytes>},

    {"branch-misses", kCount, true, counted<Counter::mispredicted>},
    {"late-branch-targets", kCount, true, counted<Counter::late_targets>},
    {"L1-dcache-load-misses", kCount, true, sum<Counter::load_l2, Counter::load_memory>},
    {"L1-dcache-store-misses", kCount, true, sum<Counter::store_l2, Counter::store_memory>},
    {"L1-icache-load-misses", kCount, true, sum<Counter::fetch_l2, Counter::fetch_memory>},
    // What L2 did not have.
    {"LLC-loads", kCount, true, sum<Counter::load_l3, Counter::load_memory>},
    {"LLC-stores", kCount, true, sum<Counter::store_l3, Counter::store_memory>},
    {"LLC-load-misses", kCount, true, counted<Counter::load_memory>},
    {"LLC-store-misses", kCount, true, counted<Counter::store_memory>},
    {"LLC-code-misses", kCount, true, counted<Counter::fetch_memory>},
    {"other-core-clean-loads", kCount, true, counted<Counter::load_other_core_clean>},
    {"other-core-modified-loads", kCount, true, counted<Counter::load_other_core_modified>},
    {"other-core-clean-stores", kCount, true, counted<Counter::store_other_core_clean>},
    {"other-core-modified-stores", kCount, true, counted<Counter::store_other_core_modified>},
    // As perf has it: no TLB had the page, its table was walked.
    {"dTLB-load-misses", kCount, true, counted<Counter::load_walks>},
    {"dTLB-store-misses", kCount, true, counted<Counter::store_walks>},
    {"iTLB-load-misses", kCount, true, counted<Counter::fetch_walks>},
    {"second-TLB-load-hits", kCount, true, counted<Counter::load_second_tlb>},
    {"second-TLB-store-hits", kCount, true, counted<Counter::store_second_tlb>},
    {"second-TLB-code-hits", kCount, true, counted<Counter::fetch_second_tlb>},
    {"sim:data-walk-cycles", Unit::cycles, true, counted<Counter::data_walk_cycles>},
    {"sim:code-walk-cycles", Unit::cycles, true, counted<Counter::fetch_walk_cycles>},
};

}  // namespace

std::span<const SimulatedEvent> simulated_events(bool with_machine) {
  const std::span<const SimulatedEvent> all(kEvents);
  const auto first = std::find_if(all.begin(), all.end(),
                                  [](const SimulatedEvent& event) { return event.needs_machine; });
  return with_machine ? all : all.first(static_cast<size_t>(first - all.begin()));
}

}  // namespace culprit
