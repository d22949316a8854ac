#pragma once

// Advice on the order of what a program does: loops that come back to lines too late, two loops
// over the same lines, threads that take lines from each other.

#include "locality/advice_context.h"

namespace culprit {

/// Swapping, blocking and fusing loops, padding arrays, lines of their own for threads.
void advise_on_loops(AdviceContext& context);

}  // namespace culprit
