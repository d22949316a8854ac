#include "simulate/simulated_events.h"

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

constexpr SimulatedEvent kEvents[] = {
    {"instructions", Unit::events, instructions},
    {"branches", Unit::events, branches},
    {"branches-taken", Unit::events, branches_taken},
    {"calls", Unit::events, calls},
    {"L1-dcache-loads", Unit::events, counted<Counter::loads>},
    {"L1-dcache-stores", Unit::events, counted<Counter::stores>},
    {"fp-loads", Unit::events, counted_float<Counter::loads>},
    {"fp-stores", Unit::events, counted_float<Counter::stores>},
    {"load-bytes", Unit::bytes, counted<Counter::load_bytes>},
    {"store-bytes", Unit::bytes, counted<Counter::store_bytes>},
};

}  // namespace

std::span<const SimulatedEvent> simulated_events() {
  return kEvents;
}

}  // namespace culprit
