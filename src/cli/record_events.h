#pragma once

// What a recording samples: -e, --engine, -c and -F, turned into events of this machine or
// into time.

#include <string>

#include "base/result.h"
#include "cli/options/command_line.h"

namespace culprit {

/// The options of `command` with events, periods and frequencies filled in.
/// Errors: events that do not exist (with the nearest names), an engine that cannot sample
///         them, a period that is too short
Result<RecordOptions> choose_events(const RecordCommand& command);

/// "time at 999 Hz", "cycles:u, instructions:u every 100,000 events".
std::string describe_sampling(const RecordOptions& options);

}  // namespace culprit
