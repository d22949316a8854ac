#pragma once

#include "cli/options/command_line.h"

namespace culprit {

/// `culprit record -r N`, `--compare`: each run in a process of its own, those of several commands
/// by turns, and all of them into one profile. The exit status.
int record_repeatedly(const RecordCommand& command);

}  // namespace culprit
