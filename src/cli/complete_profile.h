#pragma once

// Symbols for a profile, with the progress on the terminal and Ctrl-C as a wish to stop.

#include <map>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "session/symbolizing.h"

namespace culprit {

/// Shows on `line` how many images are done, unless `quiet`; stops when interrupted. Both must
/// outlive it.
SnapshotProgress show_symbols(ProgressLine& line, const InterruptGuard& guard, bool quiet);

/// symbolize_file(), so. In the small build: keeps what the recording knows, and says what is left
/// to do.
Result<SymbolizeOutcome> complete_profile(const std::string& path,
                                          const std::map<ImageId, Fd>& held,
                                          const KnownFacts& known, const SnapshotOptions& options,
                                          bool quiet);

}  // namespace culprit
