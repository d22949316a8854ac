#pragma once

// The simulated machine's description on its way from the host side to the program's process: its
// values as bytes, in a file beside the counts. Both sides come from one build.

#include <string>

#include "base/result.h"
#include "simulate/machine/machine.h"

namespace culprit::counting {

std::string machine_file_path(const std::string& folder);
Result<void> write_machine_file(const std::string& path, const simulate::MachineModel& machine);
/// The name stays behind. Errors: not there, not of this build.
Result<simulate::MachineModel> read_machine_file(const std::string& path);

}  // namespace culprit::counting
