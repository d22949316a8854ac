// `culprit scan diff, trend, find, verify`: several measurements in one file, and what is known of
// cells beside their counts.

#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <set>

#include "base/text.h"
#include "cli/open_scan.h"
#include "cli/scan_actions.h"
#include "cli/terminal.h"
#include "scan/answer.h"
#include "scan/campaign.h"
#include "scan/history.h"

namespace culprit {
namespace {

bool is_chosen(const ScanCommand& command, const scan::Cell& cell) {
  return scan::is_wanted(cell.name.setup, command.question.setups) &&
         scan::is_wanted(cell.name.program, command.question.programs);
}

template <class Condition>
std::vector<size_t> find_indices(const OpenScan& open, const Condition& condition) {
  std::vector<size_t> indices;
  for (size_t i = 0; i < open.cells.size(); ++i) {
    if (condition(open.cells[i])) indices.push_back(i);
  }
  return indices;
}

/// Explains as many changes as will be printed.
void explain_changes(OpenScan& open, const scan::History& history, size_t limit,
                     scan::Comparison& comparison) {
  const FactsLookup lookup = open.code_facts();
  CodeIndex code(open.view.profile(), lookup);
  for (size_t i = 0; i < comparison.changes.size() && (limit == 0 || i < limit); ++i) {
    scan::explain_change(history, code, comparison.changes[i]);
  }
}

/// When the cells of a label were measured first: "2026-11-25 08:10".
std::string date_of(const OpenScan& open, const std::vector<size_t>& cells) {
  int64_t first_ns = 0;
  for (const size_t cell : cells) {
    for (const scan::Point& point : open.cells[cell].points) {
      const int64_t start_ns = open.view.profile().runs[point.run.value].start_ns;
      if (start_ns > 0 && (first_ns == 0 || start_ns < first_ns)) first_ns = start_ns;
    }
  }
  if (first_ns == 0) return "-";
  const time_t seconds = first_ns / 1'000'000'000;
  tm parts{};
  if (::localtime_r(&seconds, &parts) == nullptr) return "-";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min);
}

std::string label_text(const std::string& label) {
  return label.empty() ? "(no label)" : label;
}

Result<bool> answer_diff(const ScanCommand& command, std::string& text) {
  ASSIGN_OR_RETURN(OpenScan open,
                   open_scan(command.scan_file(), scan::CostDetail::places, WhichCells::all));
  const scan::Quantities quantities = open.quantities();
  ASSIGN_OR_RETURN(const scan::Expression expression,
                   quantities.parse(command.question.expression));
  const std::vector<std::string> labels = scan::find_labels(open.cells);
  std::set<std::string> setups;
  for (const scan::Cell& cell : open.cells) setups.insert(cell.name.setup);
  const auto is_label = [&](const std::string& word) {
    return std::find(labels.begin(), labels.end(), word) != labels.end();
  };
  const bool of_setups = setups.contains(command.sides[0]) && setups.contains(command.sides[1]);
  if (!of_setups && !(is_label(command.sides[0]) && is_label(command.sides[1]))) {
    std::vector<std::string> known(setups.begin(), setups.end());
    known.insert(known.end(), labels.begin(), labels.end());
    for (const std::string& word : command.sides) {
      if (setups.contains(word) || is_label(word)) continue;
      const std::string nearest = nearest_word(word, known);
      return Error{
          fmt::format("'{}' is neither a setup nor a label of the scan{}", printable(word),
                      nearest.empty() ? "" : ": did you mean '" + printable(nearest) + "'?")};
    }
    return Error{"one is a setup and the other a label: two of a kind can be compared"};
  }
  const std::string last = scan::find_last_label(open.cells);
  const auto side = [&](const std::string& word) {
    return find_indices(open, [&](const scan::Cell& cell) {
      if (!is_chosen(command, cell)) return false;
      return of_setups ? cell.name.setup == word && cell.label() == last : cell.label() == word;
    });
  };
  scan::History history{quantities, expression, open.cells, open.costs};
  if (!of_setups) history.levels = scan::find_levels(history);
  scan::Comparison comparison =
      scan::compare_cells(history, side(command.sides[0]), side(command.sides[1]),
                          of_setups ? scan::Compared::setups : scan::Compared::labels);
  comparison.before = command.sides[0];
  comparison.after = command.sides[1];
  explain_changes(open, history, command.format == Format::text ? command.limit : 0, comparison);
  text = command.format == Format::json ? print_comparison_json(comparison, history)
                                        : print_comparison(comparison, history, command.limit,
                                                           standard_output_style(command.width));
  return std::any_of(comparison.changes.begin(), comparison.changes.end(),
                     [](const scan::Change& one) { return one.to.value > one.from.value; });
}

Result<std::string> answer_trend(const ScanCommand& command) {
  ASSIGN_OR_RETURN(OpenScan open,
                   open_scan(command.scan_file(), scan::CostDetail::places, WhichCells::all));
  const scan::Quantities quantities = open.quantities();
  ASSIGN_OR_RETURN(const scan::Expression expression,
                   quantities.parse(command.question.expression));
  scan::History history{quantities, expression, open.cells, open.costs};
  history.levels = scan::find_levels(history);
  const bool is_json = command.format == Format::json;
  std::vector<scan::TrendStep> steps;
  std::vector<size_t> before;
  for (const std::string& label : scan::find_labels(open.cells)) {
    const std::vector<size_t> now = find_indices(open, [&](const scan::Cell& cell) {
      return cell.label() == label && is_chosen(command, cell);
    });
    scan::TrendStep step{label_text(label), date_of(open, now), now.size(), {}};
    if (!steps.empty()) {
      step.comparison = scan::compare_cells(history, before, now, scan::Compared::steps);
      step.comparison.before = steps.back().label;
      step.comparison.after = step.label;
      explain_changes(open, history, is_json ? 0 : command.limit, step.comparison);
    }
    steps.push_back(std::move(step));
    before = now;
  }
  return is_json ? print_trend_json(steps, history)
                 : print_trend(steps, history, command.limit, standard_output_style(command.width));
}

Result<std::string> answer_find(const ScanCommand& command) {
  ASSIGN_OR_RETURN(OpenScan open,
                   open_scan(command.scan_file(), scan::CostDetail::places, WhichCells::all));
  const std::vector<size_t> chosen =
      find_indices(open, [&](const scan::Cell& cell) { return is_chosen(command, cell); });
  const FactsLookup lookup = open.code_facts();
  CodeIndex code(open.view.profile(), lookup);
  const std::vector<scan::FoundLine> found =
      scan::find_lines(open.cells, open.costs, chosen, command.words, code);
  return command.format == Format::json
             ? scan::print_found_json(command.words, found)
             : scan::print_found_text(command.words, found, command.limit);
}

Result<bool> answer_verify(const ScanCommand& command, std::string& text) {
  ASSIGN_OR_RETURN(OpenScan open,
                   open_scan(command.scan_file(), scan::CostDetail::places, WhichCells::all));
  const FactsLookup lookup = open.view.facts(FactPart::functions);
  CodeIndex code(open.view.profile(), lookup);
  scan::Verification verification = scan::verify_cells(open.cells, open.costs, code);
  verification.file = command.scan_file();
  text = command.format == Format::json
             ? scan::print_verification_json(verification)
             : scan::print_verification_text(verification, command.limit);
  return !verification.problems.empty();
}

int print_with_status(const Result<bool>& is_bad, const std::string& text) {
  if (!is_bad) return fail(is_bad.error(), 2);
  if (const Result<void> written = write_output(text); !written) return fail(written.error(), 2);
  return *is_bad ? 1 : 0;
}

int print_text(const Result<std::string>& text) {
  if (!text) return fail(text.error());
  const Result<void> written = write_output(*text);
  return written ? 0 : fail(written.error());
}

}  // namespace

int run_scan_diff(const ScanCommand& command) {
  std::string text;
  const Result<bool> is_worse = answer_diff(command, text);
  return print_with_status(is_worse, text);
}

int run_scan_trend(const ScanCommand& command) {
  return print_text(answer_trend(command));
}

int run_scan_find(const ScanCommand& command) {
  return print_text(answer_find(command));
}

int run_scan_verify(const ScanCommand& command) {
  std::string text;
  const Result<bool> is_bad = answer_verify(command, text);
  return print_with_status(is_bad, text);
}

}  // namespace culprit
