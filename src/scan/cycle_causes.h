#pragma once

// Causes in the model's classes of cycles: what the core waited for, where a count of instructions
// does not show it. Each modelled cycle is in one class, so that the classes share out the
// difference between two cells; cycles without a class ("base") are those of the instructions.
//
//     O2 against O3 of examples/scan/vecadd_last.cc, DIM 4, Zen 4, cycles of an iteration
//
//          A      B   difference
//      24.93   2.98        21.95   in all
//      12.96      0        12.96   refused store forwarding: 59 %, told first
//       8.99      0         8.99   chains: 41 %, told
//       2.17   1.83         0.33   base: of the instructions
//       0.83   1.17        -0.33   ports: 1 %, not told

#include <vector>

#include "scan/causes.h"
#include "scan/sides.h"

namespace culprit::scan {

/// Puts the classes that have a substantial part of the difference among causes of instructions,
/// which stay in their order: a class stands before the first of them that stands for fewer cycles.
/// Instructions stand for the cycles that executing them takes, with full ports, dividers, calls
/// and chains: the largest of their causes for all, the others by their weights. What the cell with
/// more cycles in all has less of stands for none.
/// Units:  per iteration; weights of what is added are modelled cycles
/// Errors: nothing is added where no cycles are modelled, or where they differ by less than a
///         fiftieth; classes that differ by less than two standard errors are left out
void add_cycle_causes(const Sides& sides, std::vector<Cause>& causes);

}  // namespace culprit::scan
