// `culprit scan explain SETUP SETUP --over SIZE`, and `culprit scan predict`: the cells of a plan
// on another machine.

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "base/names.h"
#include "base/text.h"
#include "cli/open_scan.h"
#include "cli/scan_actions.h"
#include "cli/terminal.h"
#include "print/header_text.h"
#include "scan/answer.h"
#include "scan/best.h"
#include "scan/curves.h"
#include "scan/history.h"

namespace culprit {
namespace {

/// A cell's value of the axis, and all else but its setup, which both sides have in common.
struct PointKey {
  std::string group;  // program and other parameters
  std::string x;
};

std::optional<PointKey> key_of(const scan::Cell& cell, const std::string& over) {
  PointKey key{cell.name.program, ""};
  for (const scan::Variable& one : cell.name.parameters) {
    if (one.name == over) {
      key.x = one.value;
    } else {
      key.group += " " + one.name + " " + one.value;
    }
  }
  if (key.x.empty()) return std::nullopt;
  return key;
}

/// Numbers by their size.
bool is_before(const std::string& a, const std::string& b) {
  const double x = std::strtod(a.c_str(), nullptr);
  const double y = std::strtod(b.c_str(), nullptr);
  return x != y ? x < y : a < b;
}

}  // namespace

Result<std::string> answer_curves(const ScanCommand& command) {
  if (command.cells.size() != 2) return Error{"two setups: culprit scan explain A B --over DIM"};
  ASSIGN_OR_RETURN(OpenScan open, open_scan(command, scan::CostDetail::places));
  std::vector<std::string> setups;
  std::map<std::string, std::map<std::string, std::pair<size_t, size_t>>> groups;
  std::vector<std::string> order;
  for (size_t i = 0; i < open.cells.size(); ++i) {
    const scan::Cell& cell = open.cells[i];
    setups.push_back(cell.name.setup);
    if (!scan::is_wanted(cell.name.program, command.question.programs)) continue;
    if (!open.costs[i] || open.costs[i]->is_refused) continue;
    const auto key = key_of(cell, command.question.over);
    if (!key) {
      return Error{
          fmt::format("the cells have no parameter '{}'", printable(command.question.over))};
    }
    for (const size_t side : {size_t{0}, size_t{1}}) {
      if (cell.name.setup != command.cells[side]) continue;
      const auto [group, is_new] = groups.try_emplace(key->group);
      if (is_new) order.push_back(key->group);
      auto& point = group->second.try_emplace(key->x, SIZE_MAX, SIZE_MAX).first->second;
      (side == 0 ? point.first : point.second) = i;
    }
  }
  for (const std::string& word : command.cells) {
    if (std::find(setups.begin(), setups.end(), word) != setups.end()) continue;
    const std::string nearest = nearest_word(word, setups);
    return Error{
        fmt::format("there is no setup '{}'{}", printable(word),
                    nearest.empty() ? "" : ": did you mean '" + printable(nearest) + "'?")};
  }
  const FactsLookup lookup = open.code_facts();
  CodeIndex code(open.view.profile(), lookup);
  const bool is_json = command.format == Format::json;
  std::vector<std::string> texts;
  for (const std::string& group : order) {
    scan::CurveExplanation curves;
    curves.program = group;
    curves.a = command.cells[0];
    curves.b = command.cells[1];
    curves.over = command.question.over;
    for (const auto& [x, cells] : groups.at(group)) {
      if (cells.first == SIZE_MAX || cells.second == SIZE_MAX) continue;
      curves.points.push_back({x, cells.first, cells.second});
    }
    std::sort(curves.points.begin(), curves.points.end(),
              [](const auto& a, const auto& b) { return is_before(a.x, b.x); });
    if (curves.points.empty()) continue;
    scan::explain_curves(open.cells, open.costs, code, curves);
    texts.push_back(is_json ? print_curves_json(curves)
                            : print_curves(curves, standard_output_style(command.width)));
  }
  if (texts.empty()) return Error{"no cell of both setups was measured at the same size"};
  // Several programs are a list of documents.
  const bool is_list = is_json && texts.size() > 1;
  std::string out = is_list ? "[" : "";
  for (const std::string& text : texts)
    out += (&text == &texts.front() ? "" : is_json ? "," : "\n") + text;
  return out + (is_list ? "]\n" : "");
}

Result<std::string> answer_predict(const ScanCommand& command, const std::string& from_label,
                                   const std::string& to_label) {
  ASSIGN_OR_RETURN(OpenScan open,
                   open_scan(command.scan_file(), scan::CostDetail::totals, WhichCells::all));
  const scan::Quantities quantities = open.quantities();
  ASSIGN_OR_RETURN(const scan::Expression expression, quantities.parse("sim:cycles"));
  const scan::History history{quantities, expression, open.cells, open.costs};
  const auto side = [&](const std::string& label) {
    std::vector<size_t> cells;
    for (size_t i = 0; i < open.cells.size(); ++i) {
      const scan::Cell& cell = open.cells[i];
      if (cell.label() == label && scan::is_wanted(cell.name.setup, command.choice.setups) &&
          scan::is_wanted(cell.name.program, command.choice.programs)) {
        cells.push_back(i);
      }
    }
    return cells;
  };
  scan::Comparison comparison =
      scan::compare_cells(history, side(from_label), side(to_label), scan::Compared::labels);
  comparison.before = from_label;
  comparison.after = to_label;
  if (command.format == Format::json) return print_comparison_json(comparison, history);
  const TextStyle style = standard_output_style(command.width);
  std::string out = print_comparison(comparison, history, command.limit, style);
  scan::Question question;
  question.expression = "sim:cycles";
  question.setups = command.choice.setups;
  question.programs = command.choice.programs;
  for (const std::string& label : {from_label, to_label}) {
    std::vector<scan::Cell> cells;
    std::vector<std::optional<scan::CellCosts>> costs;
    for (const size_t i : side(label)) {
      cells.push_back(open.cells[i]);
      costs.push_back(open.costs[i]);
    }
    ASSIGN_OR_RETURN(const scan::Answer answer, scan::answer(question, quantities, cells, costs));
    out += fmt::format("\n{}\n{}", printable(label), print_best_text(answer, style));
  }
  return out + print_labelled("Note",
                              "cycles are modelled from both machines' files; whether the other "
                              "machine has the instructions that a setup asks for is not checked",
                              style);
}

}  // namespace culprit
