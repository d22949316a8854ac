#pragma once

// Which events native runs count together: as many as this machine counts all of the time.
//
//     counters for 4     cycles instructions L1-dcache-loads L1-dcache-load-misses    first runs
//                        cycles instructions branches        branch-misses            second runs
//
// Events never take turns on a counter: what is asked for beyond the counters is counted by other
// runs. Cycles and instructions have counters of their own on most CPUs, and are in every set.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/result.h"
#include "collect/count/counter_set.h"
#include "events/event_request.h"

namespace culprit::scan {

/// An event, on each PMU that has it (two, where a CPU has cores of two kinds).
struct CountedEvent {
  std::string name;  // as the setup file has it
  std::vector<EventGroup> groups;
};

/// What the same runs count: places in a list of events.
using EventSet = std::vector<size_t>;

/// Finds each event on this machine.
/// Errors: as parse_events(); a list or group in one text; what counts whole packages
Result<std::vector<CountedEvent>> find_counted_events(const std::vector<std::string>& names);

/// Whether the machine counts so many at once, all of the time.
using FitsCounters = std::function<Result<bool>(const EventSet& set)>;

/// Fills sets one after the other, in the order of the events. No events: one empty set.
/// Errors: an event that does not even fit alone; those of `fits`
Result<std::vector<EventSet>> choose_event_sets(const std::vector<CountedEvent>& events,
                                                const FitsCounters& fits);

/// Tries it on this process.
/// Errors: the first event that cannot be counted, and why
Result<bool> fit_counters_here(const std::vector<CountedEvent>& events, const EventSet& set);

/// Opens the counters of a set for a task, and all that it starts.
/// Errors: an event that the kernel refuses
Result<CounterSet> open_counters(const std::vector<CountedEvent>& events, const EventSet& set,
                                 pid_t task, bool starts_at_exec);

/// What the set's events counted since open_counters(), in their order; nullopt: an event had to
/// share its counter, so that its count is a guess.
std::vector<std::optional<uint64_t>> read_counts(const std::vector<CountedEvent>& events,
                                                 const EventSet& set, CounterSet& counters);

}  // namespace culprit::scan
