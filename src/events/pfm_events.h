#pragma once

// Event names of CPU makers, as libpfm4 knows them: "INST_RETIRED:ANY_P",
// "icx::UOPS_RETIRED:STALL_CYCLES:c=2". Of any CPU, not only of this one. What libpfm4 has
// wrong is corrected here (pfm_corrections.h). The one place that calls the library; in a
// build without it nothing is known.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace culprit {

struct PfmPmu {
  std::string name;  // "icx"
  std::string description;
  bool is_present = false;  // it is this machine's
  bool is_core = false;     // else a package's
  size_t event_count = 0;
};

/// One event with one unit mask.
struct PfmEvent {
  std::string name;  // "UOPS_RETIRED:STALL_CYCLES"
  std::string description;
  std::vector<uint64_t> codes;  // config, config1, …; empty: only with other unit masks, too
};

/// What perf_event_attr needs of an event; exclusions are not libpfm4's business here.
struct PfmEncoding {
  std::string pmu;               // libpfm4's name of it
  std::optional<uint32_t> type;  // nothing: the type of that PMU is known on its machine only
  uint64_t config = 0;
  uint64_t config1 = 0;
  uint64_t config2 = 0;
  uint8_t precise_level = 0;
  std::string note;
};

/// Every PMU that libpfm4 has tables of, but not its tables of the kernel's own names.
std::vector<PfmPmu> list_pfm_pmus();

/// Events and their unit masks, in libpfm4's order; none for an unknown PMU.
std::vector<PfmEvent> list_pfm_events(const std::string& pmu);

/// Their names only, which is quick.
std::vector<std::string> list_pfm_event_names(const std::string& pmu);

/// "PMU::EVENT:MASK:c=1"; without a PMU one of this machine's. Upper or lower case.
/// Errors: libpfm4's reason.
Result<PfmEncoding> encode_pfm_event(const std::string& name);

}  // namespace culprit
