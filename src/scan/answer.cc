#include "scan/answer.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <set>

#include "base/text.h"

namespace culprit::scan {
namespace {

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Numbers by their size, words as they came.
void put_in_order(std::vector<std::string>& values) {
  const bool all_are_numbers = std::all_of(
      values.begin(), values.end(), [](const auto& value) { return number_of(value).has_value(); });
  if (!all_are_numbers) return;
  std::stable_sort(values.begin(), values.end(),
                   [](const auto& a, const auto& b) { return *number_of(a) < *number_of(b); });
}

/// A cell's place along a dimension; "" if it has no such dimension.
std::string value_of(const Cell& cell, const std::string& dimension) {
  if (dimension == "program") return cell.name.program;
  if (dimension == "setup") return cell.name.setup;
  const std::string* const value = find_variable(cell.name.parameters, dimension);
  return value != nullptr ? *value : "";
}

void add_once(std::vector<std::string>& values, const std::string& value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

std::vector<std::string> find_names(const std::vector<const Cell*>& cells) {
  std::vector<std::string> names = {"program", "setup"};
  for (const Cell* cell : cells) {
    for (const Variable& one : cell->name.parameters) add_once(names, one.name);
  }
  return names;
}

/// The dimensions of the cells that were asked for, each with its values.
struct Dimensions {
  std::vector<std::string> names;  // program, setup, then the parameters
  std::map<std::string, std::vector<std::string>> values;

  explicit Dimensions(const std::vector<const Cell*>& cells) {
    names = find_names(cells);
    std::map<std::string, std::set<std::string>> seen;
    for (const Cell* cell : cells) {
      for (const std::string& name : names) {
        const std::string value = value_of(*cell, name);
        if (!value.empty() && seen[name].insert(value).second) values[name].push_back(value);
      }
    }
    for (auto& [name, all] : values) put_in_order(all);
  }

  [[nodiscard]] bool varies(const std::string& name) const {
    const auto found = values.find(name);
    return found != values.end() && found->second.size() > 1;
  }
};

Result<void> check_dimension(const Dimensions& dimensions, const std::string& name) {
  if (std::find(dimensions.names.begin(), dimensions.names.end(), name) != dimensions.names.end()) {
    return {};
  }
  std::string known;
  for (const std::string& one : dimensions.names) known += (known.empty() ? "" : ", ") + one;
  return Error{fmt::format("the cells have no dimension '{}': they have {}", printable(name),
                           printable(known))};
}

/// What is drawn along the axis, and what each line is of, where the question leaves it open.
Result<void> choose_dimensions(Question& question, const Dimensions& dimensions) {
  if (question.over.empty()) {
    // A parameter that varies, else any, else setups.
    question.over = dimensions.names.size() > 2 ? dimensions.names[2] : "setup";
    for (size_t i = 2; i < dimensions.names.size(); ++i) {
      if (!dimensions.varies(dimensions.names[i])) continue;
      question.over = dimensions.names[i];
      break;
    }
  }
  if (question.by.empty()) question.by = question.over == "setup" ? "program" : "setup";
  RETURN_IF_ERROR(check_dimension(dimensions, question.over));
  RETURN_IF_ERROR(check_dimension(dimensions, question.by));
  if (question.over == question.by) {
    return Error{fmt::format("--over and --by are both '{}'", printable(question.by))};
  }
  return {};
}

/// What cells of one panel have in common: their values of all other dimensions that vary.
std::string panel_of(const Cell& cell, const Question& question, const Dimensions& dimensions) {
  std::string title;
  for (const std::string& name : dimensions.names) {
    if (name == question.over || name == question.by || !dimensions.varies(name)) continue;
    const std::string value = value_of(cell, name);
    const bool is_word = name == "program" || name == "setup";
    title += (title.empty() ? "" : ", ") + (is_word ? value : name + " " + value);
  }
  return title;
}

Mark make_mark(const std::string& x) {
  Mark mark;
  mark.x = x;
  mark.number = number_of(x);
  mark.missing = "-";
  return mark;
}

void fill_mark(Mark& mark, const Cell& cell, const CellCosts* costs, const Expression& expression,
               const Quantities& quantities) {
  mark.value = quantities.evaluate(expression, cell, costs);
  mark.varies = costs != nullptr && costs->varies;
  mark.missing = mark.value ? "" : missing_word(cell, costs);
}

/// Ratios to one series of the same panel.
Result<void> divide_by_base(Answer& answer) {
  bool is_found = false;
  for (Panel& panel : answer.panels) {
    const auto base = std::find_if(panel.series.begin(), panel.series.end(),
                                   [&](const Series& one) { return one.name == answer.base; });
    if (base == panel.series.end()) continue;
    is_found = true;
    const std::vector<Mark> divisors = base->marks;
    for (Series& series : panel.series) {
      const bool is_base = series.name == answer.base;
      for (size_t i = 0; i < series.marks.size(); ++i) {
        std::optional<Estimate>& value = series.marks[i].value;
        const std::optional<Estimate>& divisor = divisors[i].value;
        if (!value) continue;
        if (!divisor || divisor->value == 0) {
          value.reset();
          series.marks[i].missing = "-";
        } else {
          value = is_base ? Estimate{1, 0} : divide(*value, *divisor);
        }
      }
    }
  }
  if (is_found) return {};
  return Error{fmt::format("there is no {} '{}' to divide by", answer.by, printable(answer.base))};
}

/// A series for each expectation, which has at each place its value for the first cell there.
Result<void> add_expected(const Question& question, const Quantities& quantities,
                          const std::vector<Cell>& cells,
                          const std::vector<std::optional<CellCosts>>& costs, Answer& answer) {
  std::vector<std::string> texts = question.expected;
  if (question.with_peak) texts.push_back(answer.peak);
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string& text = texts[i];
    const bool is_peak = i == question.expected.size();
    ASSIGN_OR_RETURN(const Expression expression, quantities.parse(text));
    for (Panel& panel : answer.panels) {
      Series series{(is_peak ? "peak: " : "expected: ") + text, {}, true};
      for (size_t x = 0; x < panel.xs.size(); ++x) {
        Mark mark = make_mark(panel.xs[x]);
        for (const Series& other : panel.series) {
          const size_t cell = other.marks[x].cell;
          if (other.is_expected || cell == SIZE_MAX) continue;
          mark.value =
              quantities.evaluate(expression, cells[cell], costs[cell] ? &*costs[cell] : nullptr);
          if (mark.value) break;
        }
        series.marks.push_back(std::move(mark));
      }
      panel.series.push_back(std::move(series));
    }
  }
  return {};
}

/// How near the best cell comes to what it could be at most.
void find_share_of_peak(const Quantities& quantities, const std::vector<Cell>& cells, Answer& out) {
  if (out.peak.empty()) return;
  const Result<Expression> peak = quantities.parse(out.peak);
  if (!peak) return;
  for (const Panel& panel : out.panels) {
    for (const Series& series : panel.series) {
      for (const Mark& mark : series.marks) {
        if (mark.cell == SIZE_MAX || !mark.value) continue;
        const auto most = quantities.evaluate(*peak, cells[mark.cell], nullptr);
        if (!most || most->value <= 0) continue;
        const double share = mark.value->value / most->value;
        if (out.share_of_peak && *out.share_of_peak >= share) continue;
        out.share_of_peak = share;
        out.peak_value = most->value;
      }
    }
  }
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

bool is_wanted(const std::string& name, const std::vector<std::string>& patterns) {
  bool has_positive = false;
  bool matches = false;
  for (const std::string& pattern : patterns) {
    const bool excludes = pattern.starts_with('!');
    if (!excludes) has_positive = true;
    if (!matches_pattern(name, excludes ? pattern.substr(1) : pattern)) continue;
    if (excludes) return false;
    matches = true;
  }
  return matches || !has_positive;
}

std::string missing_word(const Cell& cell, const CellCosts* costs) {
  const std::string& status = cell.detail(kStatusLabel);
  if (!cell.is_measured() && !status.empty()) return status;
  return cell.is_measured() && costs != nullptr && costs->is_refused ? "grows" : "-";
}

std::vector<std::string> find_dimensions(const std::vector<Cell>& cells) {
  std::vector<const Cell*> all;
  for (const Cell& cell : cells) all.push_back(&cell);
  return find_names(all);
}

Result<Answer> answer(const Question& asked, const Quantities& quantities,
                      const std::vector<Cell>& cells,
                      const std::vector<std::optional<CellCosts>>& costs) {
  CHECK(cells.size() == costs.size());
  Question question = asked;
  ASSIGN_OR_RETURN(const Expression expression, quantities.parse(question.expression));
  std::vector<const Cell*> wanted;
  for (const Cell& cell : cells) {
    if (!is_wanted(cell.name.setup, question.setups)) continue;
    if (is_wanted(cell.name.program, question.programs)) wanted.push_back(&cell);
  }
  if (wanted.empty()) return Error{"no cell matches: `culprit scan status` lists them"};
  const Dimensions dimensions(wanted);
  RETURN_IF_ERROR(choose_dimensions(question, dimensions));

  Answer out;
  out.expression = question.expression;
  out.title = quantities.title(expression);
  out.caveat = quantities.caveat(expression);
  out.over = question.over;
  out.by = question.by;
  out.base = question.base;
  out.peak = quantities.peak(expression);
  out.provenance = quantities.provenance(expression);
  std::map<std::string, size_t> places;
  for (const Cell* cell : wanted) {
    const std::string title = panel_of(*cell, question, dimensions);
    const auto [place, is_new] = places.try_emplace(title, out.panels.size());
    if (is_new) out.panels.push_back({title, dimensions.values.at(question.over), {}});
    Panel& panel = out.panels[place->second];
    const std::string name = value_of(*cell, question.by);
    auto series = std::find_if(panel.series.begin(), panel.series.end(),
                               [&](const Series& one) { return one.name == name; });
    if (series == panel.series.end()) {
      panel.series.push_back({name, {}, false});
      series = panel.series.end() - 1;
      for (const std::string& x : panel.xs) series->marks.push_back(make_mark(x));
    }
    const std::string x = value_of(*cell, question.over);
    const auto at = std::find(panel.xs.begin(), panel.xs.end(), x);
    if (at == panel.xs.end()) continue;
    Mark& mark = series->marks[static_cast<size_t>(at - panel.xs.begin())];
    mark.cell = static_cast<size_t>(cell - cells.data());
    const std::optional<CellCosts>& found = costs[mark.cell];
    fill_mark(mark, *cell, found ? &*found : nullptr, expression, quantities);
    if (found && quantities.is_idle(*found)) out.idle.push_back(cell->name.text());
    if (!mark.value && mark.missing != "-") {
      const std::string message = first_line(cell->detail(kMessageLabel));
      out.failures.push_back(
          fmt::format("{}: {}{}", cell->name.text(),
                      mark.missing == "grows" ? "its cost grows with the loop count" : mark.missing,
                      message.empty() ? "" : ": " + message));
    }
  }
  find_share_of_peak(quantities, cells, out);
  if (question.with_peak && !out.base.empty()) return Error{"a ratio (--base) has no peak"};
  if (question.with_peak && !out.share_of_peak) {
    return Error{
        fmt::format("no peak is known of {}: of useful_work and ipc there is one, where a "
                    "machine is modelled",
                    printable(question.expression))};
  }
  if (!out.base.empty()) RETURN_IF_ERROR(divide_by_base(out));
  RETURN_IF_ERROR(add_expected(question, quantities, cells, costs, out));
  return out;
}

}  // namespace culprit::scan
