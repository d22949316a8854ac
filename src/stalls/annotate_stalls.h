#pragma once

// Stalls in a listing: a line above each instruction that was held up, and the loops and edges of
// its function.
//
//       ~~ 144 cycles, for 13d0: dm 12-144, t 0-80
//     2.88 G  99.0 %     13d3  sub    $0x1,%rsi
//
// A sample lands behind what was waited for, so the line names the instruction before; behind a
// mispredicted branch it lands on the first or second instruction of the block that follows.
//
// Without executions, what sampled events leave possible is a part of the time:
//
//       ~~ for 6d8: one of p, c, b up to 41 %
//          not d2, d3, dm by cache-misses

#include "annotate/annotation.h"
#include "attribute/attribution.h"
#include "base/result.h"
#include "templates/template.h"

namespace culprit {

/// Fills in `stall`, and each place's loops, edges and source of executions.
/// A profile that measured no time gets none, which is no error.
/// `cpu`: whose events the profile has; one without a name where that is not known.
void add_stalls(const Profile& profile, const FactsLookup& facts, const Template& cpu,
                Annotation& annotation);

}  // namespace culprit
