#pragma once

// Call stacks that were sampled beside counts (model/stacks_beside.h) tell who calls what the
// counts found: of each function, and what each process did in it, its stacks share the counts.
//
//     counts       work  0x10: 300  0x18: 600       stacks of work   main;a;work 1   main;b;work 2
//     joined       main;a;work 300   main;b;work 600
//
// Of the places in one function stacks tell nothing apart. What a function's callers have has the
// error of the stacks, which are far fewer; the sum over them is what was counted. Functions that
// no stack was seen in have none.

#include "attribute/attribution.h"
#include "model/profile.h"

namespace culprit {

/// Replaces stacks that were sampled beside counts by stacks of the counts; other profiles stay as
/// they are.
void join_stacks(Profile& profile, const FactsLookup& facts);

}  // namespace culprit
