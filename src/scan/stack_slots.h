#pragma once

// Loads from the stack of what a register still holds. A compiler that has spilled a value loads it
// again when its register was taken for something else; one that loads it at once must: the
// variable is volatile, or its address is known elsewhere.
//
//     movl %eax, 0x14(%rsp)       the value is in eax ...
//     movl 0x14(%rsp), %r12d      ... and is loaded all the same

#include <vector>

#include "scan/code_pairs.h"

namespace culprit::scan {

/// How many such loads an iteration of one side executes. What jumps and calls lie between is not
/// followed, nor where the number of executions changes. x86-64 (AT&T's syntax); 0 of others.
double count_needless_loads(const std::vector<CodePair>& code, bool of_a);

}  // namespace culprit::scan
