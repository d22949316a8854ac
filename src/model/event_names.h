#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/profile.h"

namespace culprit {

/// The events' names, made distinct: JSON, CSV and other formats name columns by them.
std::vector<std::string> distinct_event_names(const Profile& profile);

/// What perf_event_attr asks the hardware for, without who is counted and how precisely.
struct EventCode {
  uint32_t type = 0;
  uint64_t config = 0;
  uint64_t config1 = 0;
  uint64_t config2 = 0;
  friend bool operator==(const EventCode&, const EventCode&) = default;
};

/// "type=4,config=0x1d1", as Event::encoding begins where an event has a code.
std::string format_event_code(const EventCode& code);
/// The code that such a text begins with; nothing if it does not (engines without codes).
std::optional<EventCode> parse_event_code(std::string_view encoding);

/// What samples of an event are added up in, by the name that the kernel or perf gives it:
/// "cpu-clock" is ns, "cycles:u" and "cpu_core/cycles/" are cycles.
Unit find_sampled_unit(std::string_view event_name);

/// "cycles", "ns", "events", "bytes".
const char* unit_name(Unit unit);

}  // namespace culprit
