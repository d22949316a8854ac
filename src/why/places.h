#pragma once

// Places: where a cost may be repaired, each with its own tree of costs.
//
//     functions   grind 60 %, clear_page 40 %
//     families    sort<..> 60 %                 instances of one template together
//     lines       mill.c:12 60 %                of which functions have copies

#include <span>
#include <string>
#include <vector>

#include "accounting/cost_tree.h"
#include "report/largest_rows.h"
#include "why/repairs.h"

namespace culprit {

/// A function, instances of a template, or a line.
struct Place {
  std::string function;
  std::string line;
  std::string words;
  bool is_inlined = false;
  std::vector<Value> values;  // by event
  CostTree tree;
};

/// What has less of an event is not worth a tree of its own, or a word [part of all].
inline constexpr double kLeastOfEvent = 0.005;

class Places {
 public:
  /// Those with enough of any event. Both must outlive it.
  Places(const RepairInput& input, const WhyReport& why);

  /// Functions; templates, where instances are many; lines, where functions have copies of them.
  [[nodiscard]] const std::vector<Place>& choose(CostBranch branch) const;
  [[nodiscard]] const std::vector<Place>& functions() const { return functions_; }
  /// Of all code, by event.
  [[nodiscard]] const std::vector<Value>& totals() const { return totals_; }
  [[nodiscard]] const LargestRows& rows() const { return rows_; }

 private:
  class Groups;

  [[nodiscard]] std::vector<Place> make_places(const Groups& groups) const;
  [[nodiscard]] bool is_much(std::span<const Value> values) const;

  const RepairInput& input_;
  LargestRows rows_;
  std::vector<Value> totals_;
  std::vector<Place> functions_;
  std::vector<Place> families_;
  std::vector<Place> lines_;
};

/// 0 where the tree does not have the branch, or does not know. Units:  [cycles]
double cycles_of(const CostTree& tree, CostBranch branch);

}  // namespace culprit
