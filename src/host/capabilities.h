#pragma once

// What this machine lets us do, found by trying it: the rows of `culprit doctor`.

#include <cstdint>
#include <string>
#include <vector>

namespace culprit {

enum class Availability : uint8_t { yes, part, no };

/// One row of `culprit doctor`.
struct Capability {
  std::string name;  // "hardware counters", "timer sampling", ...
  Availability available = Availability::no;
  std::string detail;  // what works, or why not
  std::string remedy;  // what would enable it; "" if nothing is missing
};

/// Tries each capability for real (opens events, samples itself for a moment). Takes
/// about a second. `shim_path`: where libculprit_timer.so should be; `plugin_path`:
/// libculprit_qemu.so.
std::vector<Capability> probe_capabilities(const std::string& shim_path,
                                           const std::string& plugin_path);

/// What helps where no PMU is, or none that Linux knows. `first`: what must be done before; or "".
std::string advise_without_pmu(const std::string& first);

}  // namespace culprit
