#pragma once

// Consistency rules: a template says of a profile that the same number can be had two ways. A
// broken rule means that a counter, or how it was shared, is not to be trusted.

#include <string>
#include <vector>

#include "accounting/cost_tree.h"
#include "accounting/event_match.h"

namespace culprit {

struct RuleResult {
  const ConsistencyRule* rule = nullptr;  // in the template
  Estimate left;                          // [events], or cycles
  Estimate right;
  double difference = 0;  // of the larger one
  bool is_broken = false;
};

/// The rules all of whose events were measured. A rule is broken if its sides differ by more
/// than its tolerance and two standard errors of the difference.
std::vector<RuleResult> check_rules(const Template& cpu, const RowAmounts& amounts);

/// The broken rule that differs most of those about an event that the node's cycles are made of;
/// nullptr: there is none.
const RuleResult* find_broken_rule(const std::vector<RuleResult>& rules, const CostNode& node);

}  // namespace culprit
