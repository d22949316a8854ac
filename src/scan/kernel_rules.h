#pragma once

// The rules of kernels that can be decided for what was measured. A kernel that breaks one may cost
// what it costs for a reason that no other program has; it is told of, never left out. A setup that
// prints something else than another is a wrong optimisation; all other breaches are advice.
//
//     growing      an iteration costs more the more there are
//     removed      an iteration is its loop and nothing else, or there is none, or computes nothing
//                  where another setup does: optimised away
//     same_cost    nothing that is counted depends on a parameter
//     same_output  a setup prints something else than another; a result is the same at every size
//     values       what is printed is not a number, infinite, or nothing but zeros; operations
//                  overflowed, underflowed, were invalid, divided by zero, or had denormal operands
//     forwarding   loads wait for stores whose values no core can forward to them
//
// The last two need what a cell may not have: a native run, a machine model. What could not be
// decided is told, too.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/profile.h"
#include "scan/cells.h"
#include "scan/costs.h"
#include "scan/expectations.h"

namespace culprit::scan {

/// The names of all rules.
const std::vector<std::string>& kernel_rules();

/// A breach that is meant, and not told: "forwarding", or "forwarding vecadd_*", of programs.
/// Errors: no rule has that name
Result<void> check_accepted(const std::string& accepted);

/// A user's line for a place, "kernel.cc:12"; "" if it is not known.
using LineOf = std::function<std::string(const Location&)>;

struct RuleFindings {
  std::vector<Broken> broken;
  std::vector<std::string> undecided;  // a sentence for each rule and reason
};

/// `costs` is parallel to `cells`. `accepted`: of the setup file.
RuleFindings check_kernel_rules(const Profile& profile, const std::vector<Cell>& cells,
                                const std::vector<std::optional<CellCosts>>& costs,
                                const std::vector<std::string>& accepted, const LineOf& line_of);

}  // namespace culprit::scan
