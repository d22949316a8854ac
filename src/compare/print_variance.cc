// What varies from run to run, for people and for programs:
//
//     10 runs; the fastest c.culprit, the slowest h.culprit
//
//     range %     mean   +- dev     min     max  observed/sampling  explains  function
//        11.3   1.10 G    210 M   0.9 G   1.4 G                8.1      71 %  smooth
//
//     fastest  slowest  change  function
//       0.9 G    1.4 G   +56 %  smooth
//
//     Why     what changed, by the tree of cycles of both
//       smooth: +0.5 G cycles, +0.4 G in the tree

#include <algorithm>
#include <fmt/format.h>
#include <span>

#include "base/names.h"
#include "base/text.h"
#include "compare/print_causes.h"
#include "compare/print_comparison.h"
#include "compare/print_parts.h"
#include "print/csv.h"
#include "print/header_text.h"
#include "print/json_parts.h"
#include "report/row_filter.h"

namespace culprit {
namespace {

struct Cells {
  std::string heading;
  std::string (*cell)(const Measure&, const RowVariance&);
};

const Cells kCells[] = {
    {"range %",
     [](const Measure&, const RowVariance& r) { return fmt::format("{:.1f}", r.range_percent); }},
    {"sum %",
     [](const Measure&, const RowVariance& r) { return fmt::format("{:.1f}", r.sum_percent); }},
    {"mean", [](const Measure& m, const RowVariance& r) { return format_amount(m, r.mean); }},
    {"dev", [](const Measure& m, const RowVariance& r) { return format_amount(m, r.deviation); }},
    {"min", [](const Measure& m, const RowVariance& r) { return format_amount(m, r.smallest); }},
    {"max", [](const Measure& m, const RowVariance& r) { return format_amount(m, r.largest); }},
    {"x chance",
     [](const Measure&, const RowVariance& r) {
       return r.excess > 0 ? fmt::format("{:.1f}", r.excess) : std::string("-");
     }},
    {"explains", [](const Measure&,
                    const RowVariance& r) { return fmt::format("{:.0f} %", 100 * r.explains); }},
};

/// Of a total that varies by chance alone there is nothing to explain.
std::span<const Cells> shown_cells(const RunVariance& variance) {
  const std::span<const Cells> all(kCells);
  return really_varies(variance.total) ? all : all.first(all.size() - 1);
}

/// The rows that really vary in the two runs that differ most, and why.
std::string print_extremes(const PrintedComparison& what, const Difference& extremes,
                           const TextStyle& style) {
  constexpr size_t kMostRows = 8;
  if (extremes.rows.empty()) return "";
  std::vector<TextColumn> columns = {{"fastest", true, nullptr, 1, {}},
                                     {"slowest", true, nullptr, 2, {}},
                                     {"change", true, nullptr, 2, {}}};
  const size_t first = columns.size();
  for (TextColumn& column : name_columns(what.by)) columns.push_back(std::move(column));
  const auto add = [&](const RowChange& row) {
    columns[0].cells.push_back(format_amount(what.rows.measure, row.base));
    columns[1].cells.push_back(format_amount(what.rows.measure, row.now));
    columns[2].cells.push_back(row.change ? format_change(*row.change) : "");
    add_names(columns, first, row.key);
  };
  const size_t shown = what.limit == 0 ? extremes.rows.size()
                                       : std::min({what.limit, kMostRows, extremes.rows.size()});
  for (size_t i = 0; i < shown; ++i) add(extremes.rows[i]);
  add(extremes.total);
  return "\n" + print_table(columns, style.width) + "\n" + print_causes(what, extremes, style);
}

std::string print_text(const PrintedComparison& what, const RunVariance& variance,
                       const Difference& extremes, const TextStyle& style) {
  const std::vector<std::string>& names = what.rows.names;
  std::string text =
      wrap(fmt::format("{} runs; the fastest {}, the slowest {}", variance.runs,
                       printable(names[variance.fastest]), printable(names[variance.slowest])),
           style.width, 2) +
      "\n" + describe_measure(what.rows.measure) + "\n\n";
  std::vector<TextColumn> columns;
  const std::span<const Cells> cells = shown_cells(variance);
  for (const Cells& one : cells) columns.push_back({one.heading, true, nullptr, 2, {}});
  columns.front().gap = 0;
  const size_t first = columns.size();
  for (TextColumn& column : name_columns(what.by)) columns.push_back(std::move(column));
  const auto add = [&](const RowVariance& row) {
    for (size_t i = 0; i < first; ++i) {
      columns[i].cells.push_back(cells[i].cell(what.rows.measure, row));
    }
    add_names(columns, first, row.key);
  };
  size_t shown = 0;
  for (const RowVariance& row : variance.rows) {
    if (what.limit != 0 && shown == what.limit) break;
    add(row);
    ++shown;
  }
  add(variance.total);
  text += print_table(columns, style.width) + "\n";
  text += wrap(fmt::format("x chance: observed variance over that of sampling; above {:.0f} a row "
                           "really varies   {}",
                           kReallyVaries,
                           really_varies(variance.total)
                               ? "explains: share of the total's variance"
                               : "the total does not, so that no row explains its variance"),
               style.width, 2) +
          "\n" + print_extremes(what, extremes, style);
  std::string ledger;
  if (variance.rows.size() > shown) {
    ledger = fmt::format("{} more rows that vary less", variance.rows.size() - shown);
  }
  if (variance.rows_left_out > 0) {
    ledger += fmt::format("{}{} rows with too few samples left out", ledger.empty() ? "" : "; ",
                          variance.rows_left_out);
  }
  if (!ledger.empty()) text += print_labelled("Ledger", ledger, style);
  if (!what.runs_are_profiles) return text;
  return text + print_next("culprit diff " + shell_word(names[variance.fastest]) + " " +
                               shell_word(names[variance.slowest]),
                           "the fastest run beside the slowest", style);
}

Json json_names(const ComparedKey& key, const std::vector<RowLevel>& by) {
  Json names = Json::object();
  for (size_t level = 0; level < by.size() && level < key.size(); ++level) {
    names[std::string(level_name(by[level]))] = printable(key[level]);
  }
  return names;
}

Json json_extreme(const RowChange& row, const std::vector<RowLevel>& by) {
  return {{"names", json_names(row.key, by)},
          {"fastest", row.base},
          {"slowest", row.now},
          {"cause", row.cause ? json_cause(*row.cause) : Json()}};
}

Json json_row(const RowVariance& row, const std::vector<RowLevel>& by) {
  return {{"names", json_names(row.key, by)},
          {"range_percent", row.range_percent},
          {"sum", row.sum},
          {"sum_percent", row.sum_percent},
          {"mean", row.mean},
          {"deviation", row.deviation},
          {"min", row.smallest},
          {"max", row.largest},
          {"mean_samples", row.mean_samples},
          {"excess", row.excess > 0 ? Json(row.excess) : Json()},
          {"explains", row.explains}};
}

std::string print_json(const PrintedComparison& what, const RunVariance& variance,
                       const Difference& extremes) {
  Json varying = Json::array();
  for (size_t i = 0; i < extremes.rows.size() && (what.limit == 0 || i < what.limit); ++i) {
    varying.push_back(json_extreme(extremes.rows[i], what.by));
  }
  Json rows = Json::array();
  for (size_t i = 0; i < variance.rows.size() && (what.limit == 0 || i < what.limit); ++i) {
    rows.push_back(json_row(variance.rows[i], what.by));
  }
  Json names = Json::array();
  for (const std::string& name : what.rows.names) names.push_back(printable(name));
  return dump(
      {{"schema", "culprit-variance-1"},
       {"runs", std::move(names)},
       {"event", printable(what.rows.measure.event)},
       {"unit", what.rows.measure.unit},
       {"provenance", provenance_name(what.rows.measure.provenance)},
       {"fastest", variance.fastest},
       {"slowest", variance.slowest},
       {"rows_left_out", variance.rows_left_out},
       {"rows", std::move(rows)},
       {"total", json_row(variance.total, {})},
       {"extremes", {{"rows", std::move(varying)}, {"total", json_extreme(extremes.total, {})}}}});
}

std::string print_csv(const PrintedComparison& what, const RunVariance& variance) {
  std::string text;
  CsvLine heading(text);
  for (const RowLevel level : what.by) heading.add(level_name(level));
  for (const char* word : {"range_percent", "sum", "sum_percent", "n", "mean", "deviation", "min",
                           "max", "excess", "explains"}) {
    heading.add(word);
  }
  heading.end();
  for (const RowVariance& row : variance.rows) {
    CsvLine line(text);
    for (const std::string& name : row.key) line.add(name);
    for (const double value :
         {row.range_percent, row.sum, row.sum_percent, static_cast<double>(variance.runs), row.mean,
          row.deviation, row.smallest, row.largest, row.excess, row.explains}) {
      line.add(fmt::format("{}", value));
    }
    line.end();
  }
  return text;
}

}  // namespace

std::string print_variance(const PrintedComparison& what, const RunVariance& variance,
                           const Difference& extremes, Format format, const TextStyle& style) {
  switch (format) {
    case Format::text:
      return print_text(what, variance, extremes, style);
    case Format::json:
      return print_json(what, variance, extremes);
    case Format::csv:
      return print_csv(what, variance);
  }
  return "";
}

}  // namespace culprit
