#pragma once

// "unknown event 'cycels'": which names are near it.

#include <string>

#include "events/pmu_catalog.h"

namespace culprit {

/// Lines to end an error with: up to three near names that this machine has, or where else
/// an event of that name is; "" if there is nothing like it. Begins with a line feed.
std::string suggest_events(const std::string& typed, const PmuCatalog& catalog);

/// Suggests events of one CPU.
std::string suggest_events_of(const std::string& cpu, const std::string& typed);

/// Names of CPUs near `typed`, of libpfm4's and our own tables.
std::string suggest_cpus(const std::string& typed);

}  // namespace culprit
