#pragma once

// Event requests in words: what `culprit events -e` prints.

#include <span>
#include <string>

#include "events/event_request.h"

#include "report/report.h"

namespace culprit {

/// A raw event as perf and the makers write it: "0x1b7".
std::string hex_code(uint64_t code);

/// Text or JSON (schema/events.schema.json).
std::string print_event_groups(std::span<const EventGroup> groups, Format format);

}  // namespace culprit
