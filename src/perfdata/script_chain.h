#pragma once

// A callchain as perf script prints it, on its way back to what the kernel wrote.

#include <cstdint>
#include <vector>

#include "perfdata/script_line.h"

namespace culprit {

/// The frames of inlined calls stand beside the one of the function they are in, with its
/// address, and say what a binary says better: they go. Sometimes perf marks that one as inlined,
/// too, and leaves out its dso: then the last of them stays. `alone`: how many did.
std::vector<ScriptFrame> leave_out_inlined(const std::vector<ScriptFrame>& frames, uint64_t& alone);

/// The marker with which a callchain changes into another mode.
uint64_t find_marker(Mode mode);

}  // namespace culprit
