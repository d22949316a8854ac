#pragma once

// Events in words: what `culprit events` prints, of lists and of requests.
//
//   software        what the kernel counts itself (kernel)
//     yes  cpu-clock                 config=0x0     time of a CPU

#include <span>
#include <string>
#include <vector>

#include "base/text_style.h"
#include "events/event_list.h"
#include "events/event_request.h"

namespace culprit {

/// An event of a list, and whether it can be counted here.
struct TriedEvent {
  ListedEvent event;
  bool is_tried = false;
  std::string reason;  // why not; "" if it can be counted
};

struct TriedList {
  EventList about;  // without its events
  std::vector<TriedEvent> events;

  /// Why none of them can be counted, if all have the same reason.
  [[nodiscard]] std::string common_reason() const;
};

/// `is_overview`: of long lists only how to see them. Text or JSON (schema/events.schema.json).
std::string print_event_lists(const std::vector<TriedList>& lists, bool is_overview, Format format,
                              const TextStyle& style);

/// CPUs whose events are known, by a pattern.
std::string print_known_cpus(const std::string& pattern, Format format);

/// Text or JSON (schema/events.schema.json).
std::string print_event_groups(std::span<const EventGroup> groups, Format format);

}  // namespace culprit
