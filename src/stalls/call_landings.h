#pragma once

// Mispredicted calls (and jumps) by pointer: the call has the misprediction, and what is called has
// its cycles, since samples land on what was fetched at last.
//
//     sum_areas     7 mispredictions x 60 cycles at most, no stalls of its own
//     square        calls from it 30 %: up to 126 of these cycles
//     circle        calls from it 70 %: up to 294

#include <map>

#include "stalls/function_stalls.h"

namespace culprit {

/// By function: what mispredicted calls of others can have cost where it begins.
std::map<FunctionKey, PartBounds> find_call_landings(CodeIndex& code, FlowFinder& flows,
                                                     const StallEvidence& evidence);

}  // namespace culprit
