#pragma once

// One overload per command: runs it and returns the exit status (0 done, 1 the
// world is wrong, 2 wrong usage; record and stat: the program's own, 125 to 127 for ours).

#include "cli/options/command_line.h"

namespace culprit {

#define COMMAND(type, add) int run(const type& command);
#include "cli/options/commands.def"
#undef COMMAND
int run(const Usage& usage);

}  // namespace culprit
