#pragma once

// What a user asks to count, in words → what perf_event_open is asked for.
//
//     -e 'cycles:u,{instructions,cpu/event=0xc0,umask=1/}:pp'
//        → [cycles] and [instructions, cpu/…/], each with type, config and exclusions
//
// Words are those that perf's users know (grammar: docs/manual.md, "Events"); the
// numbers come from the kernel's sysfs (PmuCatalog), from libpfm4, or are given raw.
// Nothing is opened here: whether this machine can count it, collect/perf finds out.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "events/pmu_catalog.h"

namespace culprit {

/// One event on one PMU. The fields below `pmu` are those of perf_event_attr.
struct EventRequest {
  std::string name;  // as typed, with modifiers; or what name= says
  std::string pmu;   // "cpu", "armv8_pmuv3_0", "software", "tracepoint", "breakpoint", …
  uint32_t type = 0;
  uint64_t config = 0;
  uint64_t config1 = 0;  // breakpoints: the address
  uint64_t config2 = 0;  // breakpoints: the length [bytes]
  uint32_t breakpoint_type = 0;
  bool exclude_user = false;
  bool exclude_kernel = false;
  bool exclude_hypervisor = false;
  bool exclude_host = false;
  bool exclude_guest = false;
  bool exclude_idle = false;
  uint8_t precise_level = 0;             // 0 to 3 (precise_ip)
  bool precise_max = false;              // 'P': the highest level that the kernel takes
  bool pinned = false;                   // always on a counter, or an error (leaders only)
  bool exclusive = false;                // alone on the PMU (leaders only)
  bool sample_group = false;             // 'S': a sample of the leader reads all members
  std::optional<uint64_t> period;        // period= in the event's terms [events/sample]
  std::optional<uint64_t> frequency_hz;  // freq= in the event's terms
  std::vector<int> cpus;                 // CPUs the PMU counts on; empty: all
  bool is_per_cpu_only = false;          // uncore: counts a CPU's package, not a task
  bool is_absent = false;                // the kernel would take it, and count 0 for ever
  std::string unit;                      // of value · scale: "Joules", "ns"; "" is events
  double scale = 1.0;
  std::string note;  // what the user should know: "libpfm4's encoding corrected: …"
};

/// Events that are scheduled together, {…}, or one alone.
struct EventGroup {
  std::vector<EventRequest> members;
  bool is_braced = false;  // as typed
};

/// All `specs` (each may be a comma list with groups), in order. A name that several PMUs
/// have (hybrid CPUs, uncore boxes) gives a request for each; a group over such PMUs
/// becomes one group per PMU, because the kernel refuses mixed ones.
/// Errors: what is wrong with which event, and the nearest names that exist.
Result<std::vector<EventGroup>> parse_events(std::span<const std::string> specs,
                                             const PmuCatalog& catalog);

/// Encodes an event for a CPU that is not here: `cpu` is a PMU name of libpfm4 ("skx",
/// "amd64_fam19h_zen4") or of our own table ("arm_n1", "power9"), `name` an event of it.
/// Errors: unknown CPU, unknown event (with the nearest names).
Result<EventRequest> encode_for(const std::string& cpu, const std::string& name);

}  // namespace culprit
