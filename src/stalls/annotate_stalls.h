#pragma once

// Stalls in a listing: a line above each instruction that was held up, and the loops and edges of
// its function.
//
//       ~~ 144 cycles, for 13d0: dm 12-144, t 0-80
//     2.88 G  99.0 %     13d3  sub    $0x1,%rsi
//
// A sample lands behind what was waited for, so the line names the instruction before; behind a
// mispredicted branch it lands on the first or second instruction of the block that follows.

#include "annotate/annotation.h"
#include "attribute/attribution.h"
#include "base/result.h"

namespace culprit {

/// Fills in `stall`, and each place's loops, edges and source of executions.
/// A profile that measured no time gets none, which is no error.
void add_stalls(const Profile& profile, const FactsLookup& facts, Annotation& annotation);

}  // namespace culprit
