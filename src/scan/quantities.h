#pragma once

// What expressions may name: events, what native runs measured (native_costs.h), parameters, facts
// of the build, and presets (data/scan).

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "scan/cells.h"
#include "scan/costs.h"
#include "scan/expression.h"

namespace culprit::scan {

struct Preset {
  std::string name;
  std::string formula;
  std::string title;
  std::string caveat;  // "" if there is none
  std::string peak;    // an expression: the most that it can be; "" if nothing bounds it
};

/// Errors: the first mistake, with its line
Result<std::vector<Preset>> parse_presets(std::string_view text, const std::string& file);

class Quantities {
 public:
  /// All must outlive it.
  Quantities(const Profile& profile, const std::vector<Cell>& cells,
             const std::vector<Preset>& presets);

  /// Errors: as Expression::parse(); a preset of which this profile lacks an event
  [[nodiscard]] Result<Expression> parse(std::string_view text) const;

  /// `costs`: nullptr where nothing was measured: facts of the build have values all the same.
  [[nodiscard]] std::optional<Estimate> evaluate(const Expression& expression, const Cell& cell,
                                                 const CellCosts* costs) const;

  /// Whether an iteration of a cell loads, stores and computes nothing: it was optimised away, or
  /// needs no memory.
  [[nodiscard]] bool is_idle(const CellCosts& costs) const;

  /// What headings say: the title of a preset, or the expression itself.
  [[nodiscard]] std::string title(const Expression& expression) const;
  /// What it can be at most, as an expression; "" if that is not known of it.
  [[nodiscard]] std::string peak(const Expression& expression) const;
  /// What is to be said under it; "" if nothing is.
  [[nodiscard]] std::string caveat(const Expression& expression) const;
  /// What the least certain of its parts is: of a model, of measured times, or counted.
  [[nodiscard]] Provenance provenance(const Expression& expression) const;
  /// What an expression may name, for lists: all but events of forecasts (model/forecast_events.h),
  /// which are of sampled stretches, and mean nothing but by their ratios.
  [[nodiscard]] const std::vector<std::string>& names() const { return listed_names_; }

 private:
  [[nodiscard]] std::optional<Estimate> find(const std::string& name, const Cell& cell,
                                             const CellCosts* costs) const;
  /// Whether one of its names, or of the names in its presets, is one of these.
  [[nodiscard]] bool names_any(const Expression& expression,
                               const std::function<bool(const std::string&)>& is_one) const;

  const Profile& profile_;
  std::map<std::string, size_t> events_;
  std::map<std::string, Result<Expression>> presets_;  // parsed
  const std::vector<Preset>& all_presets_;
  std::vector<std::string> names_;  // all
  std::vector<std::string> listed_names_;
  std::set<std::string> native_names_;  // what native runs of some cell measured
};

}  // namespace culprit::scan
