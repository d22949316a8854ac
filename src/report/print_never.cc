#include <algorithm>
#include <fmt/format.h>

#include "base/names.h"
#include "base/text.h"
#include "print/csv.h"
#include "print/header_text.h"
#include "print/json_parts.h"
#include "print/text_table.h"
#include "report/never.h"

namespace culprit {
namespace {

std::string describe_lines(const LinesNeverRun& row) {
  std::string text;
  for (const auto& [first, last] : row.never) {
    text += text.empty() ? "" : ", ";
    text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
  }
  return text;
}

std::string fit_covered_function(const std::string& cell, size_t width) {
  return shorten_name(cell, width);
}

std::string print_text(const Profile& profile, const NeverReport& report, size_t limit,
                       const TextStyle& style) {
  std::string text = print_run(profile, style) + "\n";
  text += wrap(fmt::format("{} of {} lines of the {} functions that ran never ran",
                           report.never_lines, report.lines, report.functions_ran),
               style.width, 2) +
          "\n\n";
  std::vector<TextColumn> columns = {{"lines", true, nullptr, 0, {}},
                                     {"never", true, nullptr, 2, {}},
                                     {"function", false, fit_covered_function, 2, {}},
                                     {"which", false, nullptr, 2, {}}};
  constexpr size_t kWidestPlaces = 40;
  const size_t shown = limit == 0 ? report.rows.size() : std::min(limit, report.rows.size());
  for (size_t i = 0; i < shown; ++i) {
    const LinesNeverRun& row = report.rows[i];
    columns[0].cells.push_back(std::to_string(row.lines));
    columns[1].cells.push_back(std::to_string(row.never_lines));
    columns[2].cells.push_back(pretty_name(printable(row.function)));
    const std::string places =
        fmt::format("{}:{}", printable(base_name(row.file)), describe_lines(row));
    columns[3].cells.push_back(places.size() <= kWidestPlaces
                                   ? places
                                   : places.substr(0, places.rfind(", ", kWidestPlaces - 5)) +
                                         ", ...");
  }
  if (shown > 0) text += print_table(std::move(columns), style.width) + "\n";
  std::string ledger;
  if (shown < report.rows.size()) {
    ledger = fmt::format("{} more rows (--limit 0)", report.rows.size() - shown);
  }
  if (report.functions_without_lines > 0) {
    ledger += fmt::format("{}{} functions have no lines (-g)", ledger.empty() ? "" : "; ",
                          report.functions_without_lines);
  }
  if (!ledger.empty()) text += print_labelled("Ledger", ledger, style);
  if (report.knows_all_functions) {
    text += print_labelled("Never",
                           fmt::format("functions of these files that never ran at all: {}",
                                       report.functions_never.size()),
                           style);
    const size_t named =
        limit == 0 ? report.functions_never.size() : std::min(limit, report.functions_never.size());
    for (size_t i = 0; i < named; ++i) {
      const auto& [module, name] = report.functions_never[i];
      text += fmt::format("  {}  {}\n", printable(base_name(module)),
                          shorten_name(pretty_name(printable(name)), style.width - 24));
    }
  } else {
    text += print_labelled("Never",
                           "functions that never ran at all are not in the profile: record with "
                           "--facts all",
                           style);
  }
  return text;
}

std::string print_json(const NeverReport& report) {
  Json rows = Json::array();
  for (const LinesNeverRun& row : report.rows) {
    Json never = Json::array();
    for (const auto& [first, last] : row.never) never.push_back({first, last});
    rows.push_back({{"module", printable(row.module)},
                    {"function", printable(row.function)},
                    {"file", printable(row.file)},
                    {"lines", row.lines},
                    {"never_lines", row.never_lines},
                    {"never", std::move(never)}});
  }
  Json functions = Json::array();
  for (const auto& [module, name] : report.functions_never) {
    functions.push_back({{"module", printable(module)}, {"function", printable(name)}});
  }
  return dump({{"schema", "culprit-never-1"},
               {"lines", report.lines},
               {"never_lines", report.never_lines},
               {"functions_ran", report.functions_ran},
               {"functions_without_lines", report.functions_without_lines},
               {"rows", std::move(rows)},
               {"knows_all_functions", report.knows_all_functions},
               {"functions_never", std::move(functions)}});
}

std::string print_csv(const NeverReport& report) {
  std::string text;
  CsvLine heading(text);
  for (const char* word : {"module", "function", "file", "first_line", "last_line"}) {
    heading.add(word);
  }
  heading.end();
  for (const LinesNeverRun& row : report.rows) {
    for (const auto& [first, last] : row.never) {
      CsvLine line(text);
      for (const std::string& word : {row.module, row.function, row.file}) line.add(word);
      line.add(std::to_string(first));
      line.add(std::to_string(last));
      line.end();
    }
  }
  return text;
}

}  // namespace

std::string print_never(const Profile& profile, const NeverReport& report, size_t limit,
                        Format format, const TextStyle& style) {
  switch (format) {
    case Format::text:
      return print_text(profile, report, limit, style);
    case Format::json:
      return print_json(report);
    case Format::csv:
      return print_csv(report);
  }
  return "";
}

}  // namespace culprit
