#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "events/event_request.h"
#include "events/pmu_catalog.h"
#include "templates/template.h"

namespace culprit {

/// `name`: "auto" (by this machine's CPU), a template's name, or a file.
/// Errors: no such template, none for this CPU.
Result<Template> find_cpu_template(const std::string& name);

/// The events of a template on a PMU, as what the kernel is to be asked for: for counting all of
/// them, for sampling those that have a period (with it, and their precise levels). Each is a
/// group of its own: they take turns on the counters. An event of several rows is asked for once;
/// of those that the CPU certainly lacks none is sampled, and counting tells why not.
std::vector<EventGroup> list_template_events(const Template& cpu, const Pmu& pmu,
                                             bool for_sampling);

/// Finds the events for this machine. `name`: "auto" (by its CPU), a template's name, or a file.
/// Errors: no such template, none for this CPU, no hardware counters here.
Result<std::vector<EventGroup>> find_template_events(const std::string& name, bool for_sampling);

}  // namespace culprit
