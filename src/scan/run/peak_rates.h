#pragma once

// What a modelled machine can do at most: the line that useful work is held against
// (papers/parametric-evaluation, equations 2.1 and 2.3).

#include <optional>

#include "simulate/machine/machine.h"

namespace culprit::scan {

/// Floating-point operations per cycle, in double precision, of code that does nothing but fused
/// multiply-adds in the widest vectors that are the fastest; where there are none, as many
/// multiplications as additions.
/// Units:  -> [operations / cycle]
/// Errors: those of LLVM's scheduling model of the machine's CPU; nullopt if there is none. What
///         additions beside the fused ones could do is not in it
std::optional<double> find_peak_flops(const simulate::MachineModel& machine);

}  // namespace culprit::scan
