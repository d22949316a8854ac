#pragma once

// The branches of a simulated thread, as branch records would have them that miss none: every
// taken branch but returns, and the straight runs between all of them.
//
// A direct branch went where its code says, as often as its block ran (if it is conditional: as
// often as it was taken); where indirect ones went is counted. Straight runs follow:
// what runs more often than the instruction before it ran on has been branched to.
//
//     a   1        1 begins at a
//     b 100        99 begin at b
//     c 100        99 end here, taken back to b: the oldest first, so a-c once and b-c 98 times
//     d   1        1 ends here: b-d

#include <span>

#include "model/builder.h"
#include "simulate/counts_reader.h"

namespace culprit {

/// Adds them up in `builder`. `locations`: of the sites that ran.
/// Units: executions [count] -> branches and runs [count]
/// Returns: taken branches to an unknown place
uint64_t add_branches(const ProcessCounts& counts, const ThreadCounts& thread,
                      std::span<const Location> locations, ContextId context,
                      ProfileBuilder& builder);

}  // namespace culprit
