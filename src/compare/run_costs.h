#pragma once

// RunCosts: what the rows of one run cost by branch of the tree of cycles, kept as the events that
// a tree is made of: trees are made only of the rows that are asked for.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "accounting/cost_tree.h"
#include "compare/run_rows.h"

namespace culprit {

struct RunCosts {
  /// Events that are not zero: number, and what was counted.
  using Events = std::vector<std::pair<uint32_t, Estimate>>;

  std::shared_ptr<const Template> cpu;  // null: no tree; trees point into it
  std::string missing;                  // why there is none; "": there is one
  EventMatch match;
  CostOptions options;
  std::vector<Estimate> none;  // of each event, where it was not seen
  std::map<ComparedKey, Events> rows;
  Events total;

  /// The tree of a row; of one that the run has not, all are zero.
  [[nodiscard]] CostTree make_tree(const ComparedKey& key) const;
  [[nodiscard]] CostTree make_total() const { return make_tree(total); }

 private:
  [[nodiscard]] CostTree make_tree(const Events& events) const;
};

/// The events of two rows together.
RunCosts::Events add_events(const RunCosts::Events& a, const RunCosts::Events& b);

/// `table`: all rows of the profile, as for make_run_rows().
RunCosts make_run_costs(const Profile& profile, const ReportTable& table,
                        std::shared_ptr<const Template> cpu);

}  // namespace culprit
