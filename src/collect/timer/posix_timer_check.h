#pragma once

// Can the timer shim be preloaded into this command? Found out before running it,
// by following what execve() would: PATH, scripts' interpreters, the ELF header.

#include <string>
#include <vector>

#include "base/result.h"

namespace culprit {

/// An error says why the dynamic linker would not load the shim into `command`: a static
/// program, one that gains privileges, or one for another architecture. A command that is
/// not found passes: running it gives the better message.
Result<void> check_preloadable(const std::vector<std::string>& command);

}  // namespace culprit
