#pragma once

// What the daemon samples beside time: events in words, as `record -e` takes them.
//
//     page-faults,{cycles,instructions},{cache-misses,branch-misses}
//     ~~~~~~~~~~~ always    ~~~~~~~~~~~~~ two sets, which take turns from drain to drain
//
// Each event has a fixed period: a collector that follows a frequency sees idle CPUs too often.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/perf/perf_attr.h"

namespace culprit {

struct DaemonEvent {
  SampledEvent sampled;
  size_t turn = 0;  // 0: always; else when the set with this number has its turn
};

/// The events of `words`, each of which may be a list; none for no words.
/// Errors: what is wrong with which event; time, which is sampled anyway; a frequency; more events
/// than the tables have room for; one that this machine cannot count.
Result<std::vector<DaemonEvent>> find_daemon_events(const std::vector<std::string>& words);

/// What an event counted since the start of an epoch, on all CPUs together.
struct EventTotals {
  std::string name;
  uint64_t period = 0;
  uint64_t value = 0;
  uint64_t enabled_ns = 0;
  uint64_t running_ns = 0;  // less than enabled: it was not its turn, or others had its counter
};

}  // namespace culprit
