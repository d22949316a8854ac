#include "scan/history.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <numeric>

#include "base/names.h"
#include "base/text.h"
#include "print/event_display.h"
#include "print/header_text.h"
#include "print/json_parts.h"
#include "print/text_table.h"
#include "scan/causes.h"
#include "scan/code_pairs.h"
#include "scan/place_table.h"
#include "scan/print_answer.h"
#include "stats/robust.h"
#include "stats/steps.h"

namespace culprit::scan {
namespace {

std::optional<Estimate> value_of(const History& history, size_t cell) {
  const std::optional<CellCosts>& costs = history.costs[cell];
  return history.quantities.evaluate(history.expression, history.cells[cell],
                                     costs ? &*costs : nullptr);
}

constexpr double kRoundedWithin = 1e-9;  // as a part of a value

/// More than chance and rounding make.
bool differ(const Estimate& a, const Estimate& b) {
  const double error = kNormal95 * std::hypot(a.standard_error, b.standard_error);
  return std::abs(a.value - b.value) > error + kRoundedWithin * std::max(1.0, std::abs(a.value));
}

std::string pair_key(const CellName& name, Compared compared) {
  std::string key = name.program + '\0' + (compared == Compared::setups ? "" : name.setup);
  for (const Variable& one : name.parameters) key += '\0' + one.name + '\0' + one.value;
  return key;
}

struct Values {
  Estimate from;
  Estimate to;
  bool differ;
};

/// nullopt: one of the cells has no value.
std::optional<Values> compare_pair(const History& history, size_t before, size_t after,
                                   Compared compared) {
  std::optional<Estimate> from = value_of(history, before);
  std::optional<Estimate> to = value_of(history, after);
  if (!from || !to) return std::nullopt;
  const auto old_level = history.levels.find(before);
  const auto level = history.levels.find(after);
  if (old_level == history.levels.end() || level == history.levels.end()) {
    return Values{*from, *to, differ(*from, *to)};
  }
  if (compared == Compared::steps) {
    return Values{old_level->second.value, level->second.value, level->second.is_first};
  }
  for (Estimate* one : {&*from, &*to}) {
    one->standard_error = std::max(one->standard_error, level->second.scatter * one->value);
  }
  return Values{*from, *to, differ(*from, *to)};
}

/// Growth is worse: infinite from 0.
double growth(const Change& change) {
  return change.from.value == 0 ? change.to.value * HUGE_VAL
                                : change.to.value / change.from.value - 1;
}

std::string name_of(const Cell& cell) {
  return cell.name.text();
}

}  // namespace

std::vector<std::string> find_labels(const std::vector<Cell>& cells) {
  std::map<std::string, uint32_t> first;
  for (const Cell& cell : cells) {
    const auto [at, is_new] = first.try_emplace(cell.label(), cell.first.value);
    if (!is_new) at->second = std::min(at->second, cell.first.value);
  }
  std::vector<std::string> labels;
  for (const auto& [label, run] : first) labels.push_back(label);
  std::sort(labels.begin(), labels.end(),
            [&](const auto& a, const auto& b) { return first.at(a) < first.at(b); });
  return labels;
}

std::map<size_t, Level> find_levels(const History& history) {
  if (history.quantities.provenance(history.expression) != Provenance::sampled) return {};
  const std::vector<std::string> labels = find_labels(history.cells);
  std::map<std::string, size_t> order;
  for (const std::string& label : labels) order.emplace(label, order.size());
  struct Course {  // by label
    std::map<size_t, size_t> cells;
    std::map<size_t, Estimate> values;
  };
  std::map<std::string, Course> courses;
  for (size_t cell = 0; cell < history.cells.size(); ++cell) {
    const std::optional<Estimate> value = value_of(history, cell);
    if (!value || value->value <= 0) continue;
    Course& course = courses[pair_key(history.cells[cell].name, Compared::labels)];
    const size_t label = order.at(history.cells[cell].label());
    course.cells[label] = cell;
    course.values[label] = *value;
  }
  std::map<size_t, Level> levels;
  for (const auto& [key, course] : courses) {
    std::vector<double> logarithms;
    std::vector<double> errors;  // of one measurement, as parts of it
    for (const auto& [label, value] : course.values) {
      logarithms.push_back(std::log(value.value));
      errors.push_back(value.standard_error / value.value);
    }
    const std::optional<double> between = neighbour_scatter(logarithms);
    if (!between) continue;
    const double scatter = std::max({*between, compute_median(errors), kRoundedWithin});
    std::vector<size_t> bounds = find_steps(logarithms, scatter);
    bounds.push_back(logarithms.size());
    auto cell = course.cells.begin();
    size_t first = 0;
    for (const size_t end : bounds) {
      const auto size = static_cast<double>(end - first);
      const double mean = std::exp(
          std::accumulate(logarithms.begin() + first, logarithms.begin() + end, 0.0) / size);
      const Estimate level{mean, mean * scatter / std::sqrt(size)};
      for (size_t at = first; at < end; ++at, ++cell) {
        levels[cell->second] = {level, scatter, at > 0 && at == first};
      }
      first = end;
    }
  }
  return levels;
}

Comparison compare_cells(const History& history, const std::vector<size_t>& before,
                         const std::vector<size_t>& after, Compared compared) {
  Comparison out;
  out.compared = compared;
  std::map<std::string, size_t> known;
  for (const size_t cell : before) {
    known.emplace(pair_key(history.cells[cell].name, compared), cell);
  }
  out.unpaired = known.size();
  double logarithms = 0;
  size_t ratios = 0;
  for (const size_t cell : after) {
    const auto partner = known.find(pair_key(history.cells[cell].name, compared));
    if (partner == known.end()) {
      ++out.unpaired;
      continue;
    }
    const std::optional<Values> values = compare_pair(history, partner->second, cell, compared);
    if (!values) continue;
    --out.unpaired;
    if (values->from.value > 0 && values->to.value > 0) {
      logarithms += std::log(values->to.value / values->from.value);
      ++ratios;
    }
    if (values->differ) {
      out.changes.push_back({partner->second, cell, values->from, values->to});
    } else {
      ++out.equal;
    }
  }
  if (ratios > 0) out.mean_ratio = std::exp(logarithms / static_cast<double>(ratios));
  std::stable_sort(out.changes.begin(), out.changes.end(),
                   [](const Change& a, const Change& b) { return growth(a) > growth(b); });
  return out;
}

void explain_change(const History& history, CodeIndex& code, Change& change) {
  const std::optional<CellCosts>& a = history.costs[change.before];
  const std::optional<CellCosts>& b = history.costs[change.after];
  const size_t instructions = find_event(code.profile(), "instructions");
  if (!a || !b || instructions == SIZE_MAX) return;
  std::map<std::string, double> differences;
  for (int side = 0; side < 2; ++side) {
    const PlaceTable table = make_place_table(side == 0 ? *a : *b, code, PlaceLevel::function);
    for (const PlaceRow& row : table.rows) {
      differences[row.function] += (side == 0 ? -1 : 1) * row.per_iteration[instructions].value;
    }
  }
  double most = 1e-9;
  for (const auto& [function, difference] : differences) {
    if (std::abs(difference) <= most) continue;
    most = std::abs(difference);
    change.function = function;
  }
  const PlaceTable lines_a = make_place_table(*a, code, PlaceLevel::own_line);
  const PlaceTable lines_b = make_place_table(*b, code, PlaceLevel::own_line);
  const auto remarks = [&](size_t cell) {
    return parse_remarks(history.cells[cell].detail(kRemarksLabel));
  };
  const std::vector<Cause> causes =
      find_causes(code.profile(), {&*a, &lines_a, remarks(change.before)},
                  {&*b, &lines_b, remarks(change.after)}, pair_code(*a, *b, code));
  // What the core waited for changes no count.
  const bool is_counted = history.quantities.provenance(history.expression) == Provenance::counted;
  const auto first = std::find_if(causes.begin(), causes.end(), [&](const Cause& one) {
    return !(one.is_of_cycles && is_counted);
  });
  if (first == causes.end()) return;
  change.cause = first->name + (first->place.empty() ? "" : " at " + first->place);
}

namespace {

/// "=instructions".
std::string heading_of(const History& history) {
  return provenance_mark(history.quantities.provenance(history.expression)) +
         history.quantities.title(history.expression);
}

/// Whether times of two labels are said to differ by the errors of each alone.
bool is_of_one_measurement(const Comparison& comparison, const History& history) {
  if (comparison.compared == Compared::setups) return false;  // these are timed in turns
  return history.quantities.provenance(history.expression) == Provenance::sampled &&
         std::any_of(comparison.changes.begin(), comparison.changes.end(),
                     [&](const Change& one) { return !history.levels.contains(one.after); });
}

std::string tell_one_measurement() {
  return fmt::format(
      "Errors are those of one measurement: what the machine does between two is known from {}\n"
      "labels on.\n",
      kLeastSeries);
}

/// How many cells changed, and which.
std::string print_changes(const Comparison& comparison, const History& history, size_t limit,
                          const TextStyle& style) {
  const size_t worse =
      static_cast<size_t>(std::count_if(comparison.changes.begin(), comparison.changes.end(),
                                        [](const Change& one) { return growth(one) > 0; }));
  std::string out = fmt::format(
      "{} cost more in B, {} less, {} the same{}; geometric mean of B/A {:.4g}\n",
      count_cells(worse), comparison.changes.size() - worse, comparison.equal,
      comparison.unpaired > 0
          ? fmt::format(", {} are of one side only or have no value", comparison.unpaired)
          : "",
      comparison.mean_ratio);
  if (comparison.changes.empty()) return out;
  TextColumn a{"A", true, nullptr, 1, {}};
  TextColumn b{"B", true, nullptr, 2, {}};
  TextColumn change{"B/A-1", true, nullptr, 2, {}};
  TextColumn cell{"cell",
                  false,
                  [](const std::string& text, size_t width) { return elide_middle(text, width); },
                  2,
                  {}};
  TextColumn function{
      "function",
      false,
      [](const std::string& text, size_t width) { return shorten_name(text, width); },
      2,
      {}};
  TextColumn cause{"why", false, nullptr, 2, {}};
  const size_t rows =
      limit == 0 ? comparison.changes.size() : std::min(limit, comparison.changes.size());
  for (size_t i = 0; i < rows; ++i) {
    const Change& one = comparison.changes[i];
    a.cells.push_back(format_cost(one.from));
    b.cells.push_back(format_cost(one.to));
    change.cells.push_back(one.from.value == 0 ? "new"
                                               : fmt::format("{:+.1f} %", 100 * growth(one)));
    cell.cells.push_back(printable(name_of(history.cells[one.after])));
    function.cells.push_back(printable(one.function.empty() ? "-" : one.function));
    cause.cells.push_back(printable(one.cause.empty() ? "-" : one.cause));
  }
  out += "\n" + print_table({a, b, change, cell, function, cause}, style.width);
  if (rows < comparison.changes.size()) {
    out += fmt::format("({} more: --limit 0)\n", comparison.changes.size() - rows);
  }
  return out;
}

Json json_changes(const Comparison& comparison, const History& history) {
  Json changes = Json::array();
  for (const Change& one : comparison.changes) {
    changes.push_back({{"cell", name_of(history.cells[one.after])},
                       {"a", one.from.value},
                       {"a_error", one.from.standard_error},
                       {"b", one.to.value},
                       {"b_error", one.to.standard_error},
                       {"function", one.function},
                       {"cause", one.cause}});
  }
  return changes;
}

}  // namespace

std::string print_comparison(const Comparison& comparison, const History& history, size_t limit,
                             const TextStyle& style) {
  return fmt::format("{}\nA  {}\nB  {}\n\n", heading_of(history), printable(comparison.before),
                     printable(comparison.after)) +
         print_changes(comparison, history, limit, style) +
         (is_of_one_measurement(comparison, history) ? "\n" + tell_one_measurement() : "");
}

std::string print_comparison_json(const Comparison& comparison, const History& history) {
  return dump({{"schema", "culprit-scan-diff-1"},
               {"expression", history.expression.text()},
               {"a", comparison.before},
               {"b", comparison.after},
               {"equal", comparison.equal},
               {"unpaired", comparison.unpaired},
               {"mean_ratio", comparison.mean_ratio},
               {"changes", json_changes(comparison, history)}});
}

std::string print_trend(const std::vector<TrendStep>& steps, const History& history, size_t limit,
                        const TextStyle& style) {
  std::string out = fmt::format("{}   over {} labels\n", heading_of(history), steps.size());
  size_t quiet = 0;
  const auto tell_quiet = [&] {
    if (quiet > 0) out += fmt::format("\n{} labels without a change\n", quiet);
    quiet = 0;
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    const TrendStep& step = steps[i];
    if (i == 0) {
      out += fmt::format("\n{}   {}   {}\n", printable(step.label), step.date,
                         count_cells(step.cells));
    } else if (step.comparison.changes.empty()) {
      ++quiet;
    } else {
      tell_quiet();
      out += fmt::format("\n{}   {}   changed since {}\n", printable(step.label), step.date,
                         printable(step.comparison.before)) +
             print_changes(step.comparison, history, limit, style);
    }
  }
  tell_quiet();
  if (std::any_of(steps.begin(), steps.end(), [&](const TrendStep& step) {
        return is_of_one_measurement(step.comparison, history);
      })) {
    out += "\n" + tell_one_measurement();
  }
  return out;
}

std::string print_trend_json(const std::vector<TrendStep>& steps, const History& history) {
  Json all = Json::array();
  for (const TrendStep& step : steps) {
    all.push_back({{"label", step.label},
                   {"date", step.date},
                   {"cells", step.cells},
                   {"equal", step.comparison.equal},
                   {"unpaired", step.comparison.unpaired},
                   {"mean_ratio", step.comparison.mean_ratio},
                   {"changes", json_changes(step.comparison, history)}});
  }
  return dump({{"schema", "culprit-scan-trend-1"},
               {"expression", history.expression.text()},
               {"provenance", provenance_name(history.quantities.provenance(history.expression))},
               {"labels", std::move(all)}});
}

}  // namespace culprit::scan
