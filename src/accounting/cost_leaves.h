#pragma once

// The lowest nodes of a tree of cycles: a row's event times what it costs, a function of events.

#include <optional>
#include <string>
#include <vector>

#include "accounting/cost_tree.h"

namespace culprit {

class CostLeaves {
 public:
  /// All must outlive the leaves.
  CostLeaves(const Template& cpu, const RowAmounts& amounts, const CostOptions& options,
             bool has_words)
      : cpu_(cpu), amounts_(amounts), options_(options), has_words_(has_words) {}

  /// Cycles of the levels above, which some functions need.
  void set_levels(std::optional<Estimate> unhalted, std::optional<Estimate> unstalled) {
    unhalted_ = unhalted;
    unstalled_ = unstalled;
  }

  [[nodiscard]] CostNode make_event(size_t row) const;
  [[nodiscard]] CostNode make_formula(const TemplateFormula& formula) const;

 private:
  /// Operands of a formula that were measured, times their weights, in order; and the others.
  struct Operands {
    std::vector<Estimate> values;
    std::vector<std::string> missing;
    Provenance provenance = Provenance::counted;  // the weakest
  };
  /// Events that were not recorded: the node says so.
  void be_unrecorded(CostNode& node, std::vector<std::string> missing) const;
  [[nodiscard]] Operands take_operands(const TemplateFormula& formula) const;
  [[nodiscard]] Estimate compute(const TemplateFormula& formula,
                                 const std::vector<Estimate>& values) const;

  const Template& cpu_;
  const RowAmounts& amounts_;
  const CostOptions& options_;
  bool has_words_;  // labels, reasons and names of what is missing
  std::optional<Estimate> unhalted_;
  std::optional<Estimate> unstalled_;
};

/// counted, sampled, modelled: the later of two.
Provenance weaker(Provenance a, Provenance b);

/// "not recorded: A, B and 3 more".
std::string describe_missing(const std::vector<std::string>& events);

}  // namespace culprit
