#pragma once

// The header of perf script's text (--header): lines that begin with '#'.

#include <map>
#include <string>
#include <string_view>

#include "perfdata/attributes.h"
#include "perfdata/features.h"

namespace culprit {

/// Events that the header describes, by name.
using DescribedEvents = std::map<std::string, RecordedEvent, std::less<>>;

/// Takes what one line says: "# hostname : vm", "# event : name = cycles:u, , type = 0, ...".
/// What else it may say is passed over.
void parse_script_header(std::string_view line, RecordedFacts& facts, DescribedEvents& events);

/// An event of which nothing is known but its name.
RecordedEvent describe_script_event(std::string_view name, bool is_tracepoint);

}  // namespace culprit
