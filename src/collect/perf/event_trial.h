#pragma once

// Whether the kernel counts an event here, found by asking it.

#include <map>
#include <string>
#include <utility>

#include "events/event_request.h"

namespace culprit {

/// Opens events for a moment, on this thread or, what only packages count, on a CPU. The
/// reason of a refusal is worked out once for each PMU.
class EventTrials {
 public:
  /// "" if it can be counted; else why not, its remedy on lines of its own.
  std::string try_event(const EventRequest& event);

 private:
  std::map<std::pair<std::string, int>, std::string> reasons_;  // by PMU and errno
};

}  // namespace culprit
