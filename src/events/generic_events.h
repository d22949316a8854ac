#pragma once

// The events that the kernel names itself, the same on every CPU (linux/perf_event.h):
// hardware events, caches ("L1-dcache-load-misses"), and the kernel's own counts.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace culprit {

enum class GenericKind : uint8_t { hardware, software, cache };

struct GenericEvent {
  GenericKind kind = GenericKind::hardware;
  uint64_t config = 0;
  std::string_view name;         // the usual one of its names; caches: ""
  std::string_view alias;        // another, or ""
  std::string_view unit;         // "" is events
  std::string_view description;  // one line
};

/// perf_event_attr.type of a kind.
uint32_t perf_type(GenericKind kind);

/// Finds it by any of its names, as perf's users type them; hardware and software names exactly,
/// caches in any case.
std::optional<GenericEvent> find_generic_event(std::string_view name);

/// Hardware and software events, in the kernel's order.
std::vector<GenericEvent> list_generic_events();

struct CacheEventName {
  std::string name;  // "L1-dcache-load-misses"
  uint64_t config = 0;
};

/// Every pair of cache and access that the kernel has numbers for.
std::vector<CacheEventName> list_cache_events();

}  // namespace culprit
