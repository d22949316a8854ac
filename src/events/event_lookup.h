#pragma once

// One event, as typed → what it is on each PMU that has it. Those who know names are asked
// in this order: the kernel's own names, PMUs' named events, raw codes, breakpoints,
// tracepoints, libpfm4.

#include <string>
#include <vector>

#include "base/result.h"
#include "events/event_request.h"
#include "events/event_syntax.h"

namespace culprit {

struct FoundEvent {
  std::vector<EventRequest> requests;  // one for each PMU, without modifiers and names
  std::string modifiers;               // the words that were left over
};

/// Errors: nobody knows it, with the nearest names; its terms are wrong.
Result<FoundEvent> look_up_event(const EventWords& event, const PmuCatalog& catalog);

/// "EVENT:MASK:u" of a CPU that need not be here.
Result<FoundEvent> look_up_foreign_event(const std::string& cpu, const EventWords& event);

}  // namespace culprit
