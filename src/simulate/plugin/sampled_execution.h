#pragma once

// The callbacks for --sets: only accesses to lines in the sampled sets go through the machine.
// Executions, accesses and their bytes are counted as always; TLBs and the branch predictor,
// which have no sets to sample, are left out.

#include "simulate/plugin/execution.h"

namespace culprit {

Callbacks sampled_callbacks(const simulate::Hierarchy& machine);

}  // namespace culprit
