#pragma once

// CostTree: where the cycles of a part of a profile went.
//
//     unhalted                     4.07 G ~
//       stalled                    3.15 G
//         load latency             3.05 G ?   = its rows + its groups (+ functions of events)
//           DTLB                   1.18 G ?
//             walks                1.18 G     108.0 M events x 1 cycle
//         bandwidth saturation          -     not covered: why
//       unstalled                  0.92 G
//
// Linear branches are additive: the tree of two parts together is the sum of their trees.
// Those with functions of events or bounds are worked out anew from the summed events, and
// marked. What was not measured has no cycles, which is not 0.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "accounting/event_match.h"
#include "stats/estimate.h"
#include "templates/template.h"

namespace culprit {

enum class NodeKind : uint8_t {
  level,    // unhalted, stalled, unstalled
  branch,   // level 3
  group,    // level 4
  event,    // level 5: a row
  formula,  // a function of events
};

/// Why a node has no cycles, or not all of them.
enum class NodeState : uint8_t {
  measured,
  partly_measured,  // some of its events are missing, or the CPU has no event for a part
  not_recorded,     // this CPU can, this profile did not
  not_covered,      // this CPU cannot
};

struct CostNode {
  NodeKind kind = NodeKind::event;
  CostBranch branch = CostBranch::general;
  std::string label;
  NodeState state = NodeState::measured;
  std::string reason;                // of states other than measured
  std::vector<std::string> missing;  // events below it that were not recorded

  std::optional<Estimate> cycles;
  Provenance provenance = Provenance::counted;  // the weakest of its parts
  bool in_sum = true;                           // part of its parent's cycles
  bool is_linear = true;                        // cycles add up over parts of the program
  std::optional<Estimate> uncapped;             // before a bound cut it

  std::optional<RowAmount> amount;           // event: what was counted
  const TemplateRow* row = nullptr;          // event; in the template, which must outlive this
  const TemplateFormula* formula = nullptr;  // formula
  std::optional<Estimate> ratio;             // formula: what is no cycles (a ratio)
  std::vector<CostNode> parts;
};

struct CostTree {
  CostNode unhalted;              // with its levels, branches, groups, events
  std::vector<CostNode> general;  // rows beside the tree: instructions, ...
  /// The branches exceed what is stalled by so much, because they counted the same cycles.
  std::optional<Estimate> overlap;
  /// Stalled cycles that no branch explains.
  std::optional<Estimate> unexplained;

  [[nodiscard]] const CostNode* find(CostBranch branch) const;
};

struct CostOptions {
  std::optional<double> hertz;  // for penalties in ns; none: not known
  bool is_counting = false;     // counts of a whole run: estimates that need one are made
};

/// `amounts`: what was counted of each row, parallel to `cpu.rows`.
/// Units:  events x penalty -> [cycles]
/// Errors: standard errors of independent counts, in squares; those of penalties are not known
CostTree make_cost_tree(const Template& cpu, const RowAmounts& amounts,
                        const CostOptions& options = {});

}  // namespace culprit
