#pragma once

// The causes (cause.h) of a difference.
//
//     add_causes(costs, base_runs, difference);
//     if (difference.rows[0].cause) ...

#include <span>

#include "compare/difference.h"
#include "compare/run_costs.h"

namespace culprit {

/// Says of the rows that changed, and of the total if it did, why. Where one run a side allows no
/// test those count whose interval does not hold 0.
/// `costs`: of each run, in the order of the difference's.
/// Errors: of branches by the errors of their events and by what runs of a group scatter; those
///         that changed by less than 1.96 of that, or by less than a twentieth of the largest
///         change, are not named
void add_causes(std::span<const RunCosts> costs, size_t base_runs, Difference& difference);

}  // namespace culprit
