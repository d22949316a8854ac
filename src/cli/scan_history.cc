// `culprit scan diff, trend, find, verify`: several measurements in one file, and what is known of
// cells beside their counts.

#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <map>
#include <set>

#include "base/text.h"
#include "cli/open_scan.h"
#include "cli/terminal.h"
#include "print/event_display.h"
#include "scan/answer.h"
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
  ASSIGN_OR_RETURN(OpenScan open, open_scan(command.scan_file(), WhichCells::all));
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
  const scan::History history{quantities, expression, open.cells, open.costs};
  scan::Comparison comparison =
      scan::compare_cells(history, side(command.sides[0]), side(command.sides[1]), of_setups);
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
  ASSIGN_OR_RETURN(OpenScan open, open_scan(command.scan_file(), WhichCells::all));
  const scan::Quantities quantities = open.quantities();
  ASSIGN_OR_RETURN(const scan::Expression expression,
                   quantities.parse(command.question.expression));
  const std::vector<std::string> labels = scan::find_labels(open.cells);
  const scan::History history{quantities, expression, open.cells, open.costs};
  std::string out =
      fmt::format("{}{}   over {} labels\n", provenance_mark(quantities.provenance(expression)),
                  quantities.title(expression), labels.size());
  std::vector<size_t> before;
  std::string before_label;
  size_t quiet = 0;
  const auto tell_quiet = [&] {
    if (quiet > 0) out += fmt::format("\n{} labels without a change\n", quiet);
    quiet = 0;
  };
  for (size_t i = 0; i < labels.size(); ++i) {
    const std::vector<size_t> now = find_indices(open, [&](const scan::Cell& cell) {
      return cell.label() == labels[i] && is_chosen(command, cell);
    });
    if (i == 0) {
      out += fmt::format("\n{}   {}   {} cells\n", printable(label_text(labels[i])),
                         date_of(open, now), now.size());
    } else {
      scan::Comparison comparison = scan::compare_cells(history, before, now, false);
      if (comparison.changes.empty()) {
        ++quiet;
      } else {
        tell_quiet();
        explain_changes(open, history, command.limit, comparison);
        comparison.before = label_text(before_label);
        comparison.after = label_text(labels[i]);
        out += fmt::format("\n{}   {}   changed since {}\n", printable(comparison.after),
                           date_of(open, now), printable(comparison.before));
        const std::string text = print_comparison(comparison, history, command.limit,
                                                  standard_output_style(command.width));
        out += text.substr(text.find("\n\n") + 2);
      }
    }
    before = now;
    before_label = labels[i];
  }
  tell_quiet();
  return out;
}

/// What may be looked for in: the names of fields, and where they are kept.
constexpr std::pair<const char*, std::string_view> kFields[] = {
    {"build", scan::kBuildLabel},    {"compiler", scan::kCompilerLabel},
    {"remark", scan::kRemarksLabel}, {"message", scan::kMessageLabel},
    {"input", scan::kInputsLabel},   {"output", scan::kOutputLabel},
    {"status", scan::kStatusLabel},  {"machine", scan::kMachineLabel},
    {"label", scan::kHistoryLabel},  {"key", scan::kKeyLabel}};

Result<std::string> answer_find(const ScanCommand& command) {
  ASSIGN_OR_RETURN(const OpenScan open, open_scan(command.scan_file(), WhichCells::all));
  // A line that many cells have is told once.
  std::vector<std::pair<std::string, std::vector<std::string>>> found;
  std::map<std::string, size_t> places;
  for (const scan::Cell& cell : open.cells) {
    if (!is_chosen(command, cell)) continue;
    for (const auto& [field, label] : kFields) {
      for (const std::string_view line : split(cell.detail(label), '\n')) {
        if (to_lower(line).find(to_lower(command.words)) == std::string::npos) continue;
        const std::string text = fmt::format("{}: {}", field, trim(line));
        const auto [place, is_new] = places.try_emplace(text, found.size());
        if (is_new) found.push_back({text, {}});
        std::vector<std::string>& names = found[place->second].second;
        if (names.empty() || names.back() != cell.name.text()) names.push_back(cell.name.text());
      }
    }
  }
  List list(command.limit);
  for (const auto& [text, names] : found) {
    list.add(
        fmt::format("{}   ({}{})", text, names.front(),
                    names.size() > 1 ? fmt::format(" and {} more cells", names.size() - 1) : ""));
  }
  return fmt::format("'{}': {} lines\n{}", printable(command.words), found.size(), list.text());
}

Result<bool> answer_verify(const ScanCommand& command, std::string& text) {
  ASSIGN_OR_RETURN(OpenScan open, open_scan(command.scan_file(), WhichCells::all));
  List list(command.limit);
  size_t measured = 0;
  const Profile& profile = open.view.profile();
  const FactsLookup lookup = open.view.facts(FactPart::functions);
  CodeIndex code(profile, lookup);
  std::map<std::string, size_t> most_points;  // by label
  for (const scan::Cell& cell : open.cells) {
    size_t& most = most_points[cell.label()];
    most = std::max(most, cell.points.size());
  }
  for (size_t i = 0; i < open.cells.size(); ++i) {
    const scan::Cell& cell = open.cells[i];
    const auto wrong = [&](const std::string& what) { list.add(cell.name.text() + ": " + what); };
    if (cell.detail(scan::kStatusLabel).empty()) {
      wrong("its first run is missing: forget it, and run it again");
      continue;
    }
    if (cell.detail(scan::kKeyLabel).empty())
      wrong("has no key: it cannot be seen to have changed");
    if (!cell.is_measured()) continue;
    ++measured;
    if (cell.points.size() < most_points[cell.label()]) {
      wrong(fmt::format("has {} runs, others {}", cell.points.size(), most_points[cell.label()]));
    }
    if (!open.costs[i]) {
      wrong("says that it was measured, but has no counts");
      continue;
    }
    for (const scan::PlaceCost& place : open.costs[i]->places) {
      if (code.facts(place.at.image) != nullptr) continue;
      wrong(fmt::format("nothing is known of the code of {}", code.module(place.at.image)));
      break;
    }
  }
  text = fmt::format("{}: {} cells, {} measured: {} problems\n{}", printable(command.scan_file()),
                     open.cells.size(), measured, list.size(), list.text());
  return list.size() > 0;
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
