// What an event is called where nobody wrote down its name: perf's words for its encoding.

#include "model/event_names.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <string_view>

#include "perfdata/attributes.h"

namespace culprit {

namespace {

// Names stand in the order of perf_hw_id, perf_sw_ids and perf_hw_cache_id (linux/perf_event.h).
constexpr std::array<std::string_view, 10> kHardware = {"cycles",
                                                        "instructions",
                                                        "cache-references",
                                                        "cache-misses",
                                                        "branches",
                                                        "branch-misses",
                                                        "bus-cycles",
                                                        "stalled-cycles-frontend",
                                                        "stalled-cycles-backend",
                                                        "ref-cycles"};
constexpr std::array<std::string_view, 12> kSoftware = {
    "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
    "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
    "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};
constexpr std::array<std::string_view, 7> kCaches = {"L1-dcache", "L1-icache", "LLC", "dTLB",
                                                     "iTLB",      "branch",    "node"};
constexpr std::array<std::array<std::string_view, 2>, 3> kCacheOperations = {
    {{"loads", "load-misses"}, {"stores", "store-misses"}, {"prefetches", "prefetch-misses"}}};

std::string describe_cache_event(uint64_t config) {
  const uint64_t cache = config & 0xff;
  const uint64_t operation = config >> 8 & 0xff;
  const uint64_t result = config >> 16 & 0xff;
  if (cache >= kCaches.size() || operation >= kCacheOperations.size() || result > 1) {
    return fmt::format("hw-cache {:#x}", config);
  }
  return fmt::format("{}-{}", kCaches[cache], kCacheOperations[operation][result]);
}

std::string describe_code(const EventAttr& attr) {
  // Hybrid CPUs: which of their PMUs is in the upper half.
  const uint64_t config = attr.config & 0xffffffff;
  switch (attr.type) {
    case PERF_TYPE_HARDWARE:
      return config < kHardware.size() ? std::string(kHardware[config])
                                       : fmt::format("hardware {:#x}", attr.config);
    case PERF_TYPE_SOFTWARE:
      return attr.config < kSoftware.size() ? std::string(kSoftware[attr.config])
                                            : fmt::format("software {:#x}", attr.config);
    case PERF_TYPE_HW_CACHE:
      return describe_cache_event(config);
    case PERF_TYPE_TRACEPOINT:
      return fmt::format("tracepoint {}", attr.config);
    case PERF_TYPE_BREAKPOINT:
      return fmt::format("mem:{:#x}", attr.config1);
    case PERF_TYPE_RAW:
      return fmt::format("raw {:#x}", attr.config);
    default:
      return fmt::format("pmu {} {:#x}", attr.type, attr.config);
  }
}

/// ":ukpp": who is counted where not all are, and how precisely. perf leaves guests out of
/// events that have any of these, and says H or G where it is otherwise.
std::string describe_modifiers(const EventAttr& attr) {
  std::string text;
  const bool is_restricted = attr.exclude_user || attr.exclude_kernel || attr.exclude_hypervisor;
  if (is_restricted) {
    if (!attr.exclude_kernel) text += 'k';
    if (!attr.exclude_user) text += 'u';
    if (!attr.exclude_hypervisor) text += 'h';
  }
  text.append(attr.precise_level, 'p');
  const bool leaves_guests_out = is_restricted || attr.precise_level > 0;
  if (attr.exclude_host || attr.exclude_guest == leaves_guests_out) {
    if (!attr.exclude_host) text += 'H';
    if (!attr.exclude_guest) text += 'G';
  }
  return text.empty() ? "" : ":" + text;
}

/// Whether a name ends with letters of perf's for whom it counts and how: "cycles:upp",
/// "cpu/event=0x3c/k". "sched:sched_switch" does not.
bool has_modifiers(std::string_view name) {
  const size_t at = name.find_last_of(":/");
  if (at == name.npos || at + 1 == name.size()) return false;
  return name.find_first_not_of("ukhGHIpPSDWeb", at + 1) == name.npos;
}

}  // namespace

std::optional<uint64_t> find_software_event(std::string_view name) {
  const auto at = std::find(kSoftware.begin(), kSoftware.end(), name);
  if (at == kSoftware.end()) return std::nullopt;
  return static_cast<uint64_t>(at - kSoftware.begin());
}

std::string describe_event(const EventAttr& attr) {
  return describe_code(attr) + describe_modifiers(attr);
}

std::string name_event(const RecordedEvent& event) {
  if (event.name.empty()) return describe_event(event.attr);
  const EventAttr& attr = event.attr;
  const bool has_both = attr.exclude_user == attr.exclude_kernel;
  if (has_both || has_modifiers(event.name)) return event.name;
  const char* const separator = event.name.ends_with('/') ? "" : ":";
  return event.name + separator + (attr.exclude_kernel ? "u" : "k");
}

std::string format_encoding(const EventAttr& attr) {
  return format_event_code({attr.type, attr.config, attr.config1, attr.config2}) +
         describe_modifiers(attr);
}

}  // namespace culprit
