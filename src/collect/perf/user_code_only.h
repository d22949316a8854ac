#pragma once

// Counting without the kernel, where kernel.perf_event_paranoid bars it.

#include <vector>

#include "events/event_request.h"

namespace culprit {

/// Where the kernel may not be counted: restricts events that would count it, too, to user code.
/// True if that changed any. What happens in the kernel alone stays, to be refused with the
/// reason: counted in user code it would always be 0.
bool leave_out_barred_kernel(std::vector<EventGroup>& groups);

}  // namespace culprit
