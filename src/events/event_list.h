#pragma once

// What there is to count: for `culprit events`.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "events/event_request.h"

namespace culprit {

struct ListedEvent {
  std::string name;  // as it can be typed after -e (of other CPUs: without the CPU)
  std::string alias;
  std::string description;
  std::vector<uint64_t> codes;          // config, config1, …; empty: not of its own
  std::optional<EventRequest> request;  // here and complete: it can be tried
};

/// Events that belong together, and who knows them.
struct EventList {
  std::string pmu;  // "hardware", "cache", "software", "msr", "icl", …
  std::string description;
  std::string source;  // "kernel", "sysfs", "tracefs", "libpfm4" or where a table is from
  std::vector<ListedEvent> events;
};

/// Everything this machine has names for, tracepoints too where tracefs may be read.
std::vector<EventList> list_events_here(const PmuCatalog& catalog);

/// The events of one CPU that need not be here.
/// Errors: nobody knows such a CPU (with the nearest names).
Result<EventList> list_events_of(const std::string& cpu);

struct KnownCpu {
  std::string name;  // for --cpu
  std::string description;
  size_t event_count = 0;
  bool is_here = false;
};

/// The CPUs and packages of libpfm4's and our own tables.
std::vector<KnownCpu> list_cpus();

/// Whether `event` is meant by `pattern`: a part of its name or, with * ? [], all of it;
/// "PMU::*", "PMU/*" name the list, too. Case does not matter.
bool is_meant(const EventList& list, const ListedEvent& event, const std::string& pattern);

}  // namespace culprit
