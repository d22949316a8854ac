#pragma once

// Libraries that choose code by the CPU themselves, not by variants whose names tell: what makes a
// native run and a simulated one, whose CPU has no AVX-512, choose the same.

#include <string>
#include <vector>

#include "report/measured_cycles.h"

namespace culprit {

/// A sentence for each module that has at least 5 % of the samples in functions that the simulated
/// run did not execute, with the setting where one is known.
std::vector<std::string> advise_on_dispatch(const MeasuredCycles& measured);

}  // namespace culprit
