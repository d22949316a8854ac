// `culprit scan table, plot, best, explain`: what cells cost, and why two differ.

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/names.h"
#include "base/text.h"
#include "cli/open_scan.h"
#include "cli/scan_actions.h"
#include "cli/scan_output.h"
#include "cli/terminal.h"
#include "print/header_text.h"
#include "scan/answer.h"
#include "scan/best.h"
#include "scan/explain.h"
#include "scan/print_answer.h"
#include "scan/weighed.h"

namespace culprit {
namespace {

/// The command that draws what this table tells.
std::string plot_of(const ScanCommand& command) {
  const scan::Question& question = command.question;
  std::string words = "culprit scan plot";
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words += fmt::format(" {} {}", option, shell_word(value));
  };
  if (question.expression != scan::Question().expression) {
    words += " " + shell_word(question.expression);
  }
  add("--over", question.over);
  add("--by", question.by);
  add("--base", question.base);
  add("--label", command.label);
  for (const std::string& one : question.setups) add("--setup", one);
  for (const std::string& one : question.programs) add("--program", one);
  return with_input(words, command);
}

/// The cell that some words name.
Result<size_t> find_cell(const OpenScan& open, const std::string& words) {
  std::vector<std::string> known;
  for (size_t i = 0; i < open.cells.size(); ++i) {
    known.push_back(open.cells[i].name.text());
    if (known.back() != words) continue;
    if (!open.cells[i].is_measured() || !open.costs[i]) {
      return Error{fmt::format("{} was not measured: {}", printable(words),
                               open.cells[i].detail(scan::kStatusLabel))};
    }
    if (open.costs[i]->is_refused) {
      return Error{fmt::format("{}: its cost grows with the loop count", printable(words))};
    }
    return i;
  }
  const std::string nearest = nearest_word(words, known);
  return Error{fmt::format("there is no cell '{}'{}", printable(words),
                           nearest.empty() ? "" : " (did you mean '" + printable(nearest) + "'?)")};
}

/// Two words, or twice as many as one cell's name has.
std::pair<std::string, std::string> split_cells(const std::vector<std::string>& words) {
  const auto middle = words.begin() + static_cast<std::ptrdiff_t>(words.size() / 2);
  return {fmt::format("{}", fmt::join(words.begin(), middle, " ")),
          fmt::format("{}", fmt::join(middle, words.end(), " "))};
}

/// What the compiler said of one cell's loops, beside what was executed.
Result<std::string> answer_executed(const ScanCommand& command, const OpenScan& open,
                                    const std::string& words) {
  ASSIGN_OR_RETURN(const size_t index, find_cell(open, words));
  const scan::Cell& cell = open.cells[index];
  const FactsLookup lookup = open.code_facts();
  CodeIndex code(open.view.profile(), lookup);
  const std::vector<scan::ExecutedRemark> executed = scan::find_executed(
      scan::parse_remarks(cell.detail(scan::kRemarksLabel)), *open.costs[index], code);
  return command.format == Format::json
             ? scan::print_executed_json(cell, executed)
             : scan::print_executed(cell, executed, standard_output_style(command.width));
}

}  // namespace

Result<std::string> answer_scan_question(const ScanCommand& command) {
  ASSIGN_OR_RETURN(const OpenScan open, open_scan(command, scan::CostDetail::totals));
  const scan::Quantities quantities = open.quantities();
  ASSIGN_OR_RETURN(const scan::Answer answer,
                   scan::answer(command.question, quantities, open.cells, open.costs));
  const TextStyle style = standard_output_style(command.width);
  if (command.action == ScanAction::best) {
    std::vector<scan::WeighedSeries> weighed;
    if (!command.uses.empty()) {
      ASSIGN_OR_RETURN(weighed, scan::weigh(answer, command.uses));
    }
    if (command.format == Format::json) return print_best_json(answer, weighed);
    const std::string by_place = print_best_text(answer, style);
    return weighed.empty() ? by_place : by_place + print_weighed(weighed, answer.by, style);
  }
  if (command.action == ScanAction::table) {
    if (command.format == Format::json) return print_answer_json(answer);
    if (command.format == Format::csv) return print_answer_csv(answer);
    return print_table_text(answer, style) + "\n" +
           print_next(plot_of(command), "the same as a plot", style);
  }
  switch (command.form) {
    case PlotForm::svg:
      return print_plot_svg(answer, command.plot);
    case PlotForm::pdf: {
      // Paper has one theme.
      scan::PlotOptions options = command.plot;
      if (options.theme == "auto") options.theme = "light";
      return print_plot_svg(answer, options);
    }
    case PlotForm::gnuplot:
      return print_plot_gnuplot(answer, command.plot);
    case PlotForm::vega:
      return print_plot_vega(answer, command.plot);
    case PlotForm::csv:
      return print_answer_csv(answer);
    case PlotForm::text:
      break;
  }
  return print_plot_text(answer, command.plot, style);
}

Result<std::string> answer_explain(const ScanCommand& command) {
  if (!command.question.over.empty()) return answer_curves(command);
  ASSIGN_OR_RETURN(OpenScan open, open_scan(command, scan::CostDetail::places));
  const std::string whole = fmt::format("{}", fmt::join(command.cells, " "));
  const bool is_one = std::any_of(open.cells.begin(), open.cells.end(),
                                  [&](const auto& cell) { return cell.name.text() == whole; });
  if (is_one || command.cells.size() % 2 != 0) return answer_executed(command, open, whole);
  const auto words = split_cells(command.cells);
  ASSIGN_OR_RETURN(const size_t a, find_cell(open, words.first));
  ASSIGN_OR_RETURN(const size_t b, find_cell(open, words.second));
  const FactsLookup lookup = open.code_facts();
  CodeIndex code(open.view.profile(), lookup);
  const scan::Explanation explanation =
      scan::explain(open.cells[a], *open.costs[a], open.cells[b], *open.costs[b], code);
  if (command.format == Format::json) return print_explanation_json(explanation);
  return print_explanation(explanation, command.limit, standard_output_style(command.width));
}

}  // namespace culprit
