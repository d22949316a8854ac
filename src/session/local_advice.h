#pragma once

// Advice of the tree of cycles, said of the code at hand: where a recording has the cache lines
// (record --locality), the loops and data that bring them and what to change there.

#include "locality/advice.h"
#include "why/why.h"

namespace culprit {

/// Each piece goes to the advice on waiting for memory whose line it touches; one that has none
/// stands by itself. The advice stays in the order of what it saves.
void add_local_advice(const std::vector<LocalityAdvice>& pieces, WhyReport& why);

}  // namespace culprit
