#pragma once

// Cycles per instruction in an annotation of a profile of two runs (record --engine
// timer+simulate): measured cycles by executions of the simulated run.
//
// Samples land a little late: those at an instruction are its own, or of the one before it. So a
// block has a firm CPI, an instruction a range: from none, as all may be the one's before, to its
// own and the next one's (the last one's next is the first, as in a loop):
//
//     samples  executed        CPI    at 2 M cycles a sample
//           0     100 M  0.00-1.09    1210  load      up to 40: the 95 % interval ends at 54.5
//          40     100 M  0.00-1.09    1213  add       none: the load may be what waited
//           0     100 M               1216  jne       nothing here, nothing behind it
//
// Upper ends are those of the 95 % interval of that number of samples.

#include <string>

#include "annotate/annotation.h"

namespace culprit {

/// Fills in `cpi` of all parts and `executed`; of other profiles nothing.
void add_cycles_per_instruction(const Profile& profile, Annotation& annotation);

/// "1.67 +-0.15": half of the 95 % interval.
std::string format_cpi(const Estimate& cpi);
/// "0.0-1.1"
std::string format_cpi(const Interval& cpi);

}  // namespace culprit
