// A difference for people and for programs:
//
//     old 3 runs, new 3 runs; spread between runs 2.1 %
//
//        old      new  change   +-  verdict  function
//     1.10 G   1.38 G   +25 %    4  +        parse_value
//     6.31 G   6.62 G  +4.9 %  1.2  +        total

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <span>

#include "base/names.h"
#include "base/text.h"
#include "compare/print_causes.h"
#include "compare/print_comparison.h"
#include "compare/print_functions.h"
#include "compare/print_parts.h"
#include "print/csv.h"
#include "print/header_text.h"
#include "print/json_parts.h"
#include "report/row_filter.h"

namespace culprit {
namespace {

const char* verdict_word(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::more:
      return "more";
    case ChangeVerdict::less:
      return "less";
    case ChangeVerdict::same:
      return "same";
    case ChangeVerdict::not_tested:
      return "not-tested";
    case ChangeVerdict::too_few:
      return "too-few-samples";
    case ChangeVerdict::fresh:
      return "new";
    case ChangeVerdict::gone:
      return "gone";
  }
  return "same";
}

std::string format_half(const RowChange& row) {
  if (!row.interval95 || !row.change) return "";
  const double half =
      100 * std::max(row.interval95->high - *row.change, *row.change - row.interval95->low);
  if (half == 0) return "";
  return half < 9.95 ? fmt::format("{:.1f}", half) : fmt::format("{:.0f}", half);
}

std::string plural(size_t count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

class DifferenceText {
 public:
  DifferenceText(const PrintedComparison& what, const Difference& difference,
                 const TextStyle& style)
      : what_(what), difference_(difference), style_(style) {}

  std::string print() {
    std::string text = describe_groups() + "\n";
    text += print_table(columns(), style_.width) + "\n";
    return text + legend() + print_causes(what_, difference_, style_) +
           print_functions(what_, difference_, style_) + print_next_step();
  }

 private:
  [[nodiscard]] std::string describe_groups() const {
    const std::span<const std::string> names = what_.rows.names;
    std::string text = "old  " + list_runs(names.first(difference_.base_runs)) + "\nnew  " +
                       list_runs(names.subspan(difference_.base_runs));
    text += "\n" + describe_measure(what_.rows.measure);
    if (difference_.is_spread_assumed) {
      text +=
          fmt::format("; one run a side: not tested; +- takes {:.0f} % between runs for granted",
                      100 * difference_.spread);
    } else if (!difference_.is_exact) {
      text += fmt::format("; totals spread by {:.1f} % between runs", 100 * difference_.spread);
    }
    return wrap_lines(text);
  }

  /// "a, b, c"; of many the first and the last.
  static std::string list_runs(std::span<const std::string> names) {
    constexpr size_t kMost = 12;
    if (names.size() > kMost) {
      return fmt::format("{} to {} ({} runs)", printable(names.front()), printable(names.back()),
                         names.size());
    }
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + printable(name);
    return text;
  }

  [[nodiscard]] std::string wrap_lines(const std::string& text) const {
    std::string out;
    for (const std::string_view line : split(text, '\n')) {
      out += wrap(std::string(line), style_.width, 5) + "\n";
    }
    return out;
  }

  std::vector<TextColumn> columns() {
    std::vector<TextColumn> columns = {{"old", true, nullptr, 1, {}},
                                       {"new", true, nullptr, 2, {}},
                                       {"change", true, nullptr, 2, {}},
                                       {"+-", true, nullptr, 2, {}},
                                       {"verdict", false, nullptr, 2, {}}};
    const size_t names = columns.size();
    for (TextColumn& column : name_columns(what_.by)) columns.push_back(std::move(column));
    size_t shown = 0;
    RowChange rest;
    size_t rest_rows = 0;
    for (const RowChange& row : difference_.rows) {
      const bool has_room = what_.limit == 0 || shown < what_.limit;
      if (has_room && says_something(row)) {
        add_row(columns, names, row);
        ++shown;
      } else {
        rest.base += row.base;
        rest.now += row.now;
        ++rest_rows;
      }
    }
    if (rest_rows > 0) {
      rest.key = {fmt::format("({} more)", rest_rows)};
      rest.verdict = ChangeVerdict::too_few;  // a sum of rows is not tested
      if (rest.base > 0) rest.change = rest.now / rest.base - 1;
      add_row(columns, names, rest);
    }
    if (difference_.everything) add_row(columns, names, *difference_.everything);
    add_row(columns, names, difference_.total);
    return columns;
  }

  /// What is small and cannot be tested, and counts that are equal, would bury the rest.
  [[nodiscard]] bool says_something(const RowChange& row) const {
    constexpr double kSmall = 0.01;
    const double whole = std::max(difference_.total.base, difference_.total.now);
    if (what_.limit == 0) return true;
    if (difference_.is_exact && row.base == row.now) return false;
    return row.verdict != ChangeVerdict::too_few || std::max(row.base, row.now) >= kSmall * whole;
  }

  void add_row(std::vector<TextColumn>& columns, size_t names, const RowChange& row) const {
    const bool is_everything = difference_.everything && &row == &*difference_.everything;
    columns[0].cells.push_back(is_everything ? "" : format_amount(what_.rows.measure, row.base));
    columns[1].cells.push_back(is_everything ? "" : format_amount(what_.rows.measure, row.now));
    columns[2].cells.push_back(row.change ? format_change(*row.change) : "");
    columns[3].cells.push_back(format_half(row));
    columns[4].cells.emplace_back(verdict_mark(row.verdict));
    add_names(columns, names, row.key);
  }

  [[nodiscard]] std::string legend() const {
    std::string text;
    if (difference_.is_exact) {
      const bool is_counted = what_.rows.measure.provenance == Provenance::counted;
      text += wrap(is_counted ? "= counted: what differs, differs"
                              : "? modelled: what differs, differs in the model",
                   style_.width, 2) +
              "\n";
    } else if (difference_.is_spread_assumed) {
      text +=
          wrap("? not tested   +- half of the 95 % interval, in points", style_.width, 2) + "\n";
    } else {
      text += wrap(
                  "+ takes more   - takes less   ~ no change that chance would not make   "
                  "+- half of the 95 % interval, in points",
                  style_.width, 2) +
              "\n";
    }
    if (difference_.everything) {
      const bool is_change = difference_.everything->verdict != ChangeVerdict::same;
      text += wrap(is_change ? "everything: what all rows share; it is in the rows' changes, too"
                             : "everything: what all rows share, no more than chance makes; the "
                               "rows' changes are beyond it",
                   style_.width, 2) +
              "\n";
    }
    if (difference_.rows_untested > 0) {
      text += print_labelled("Ledger",
                             fmt::format("{} with too few samples to be tested",
                                         plural(difference_.rows_untested, "row")),
                             style_);
    }
    return text;
  }

  [[nodiscard]] std::string print_next_step() const {
    if (difference_.is_spread_assumed) {
      return print_next(
          "culprit diff --base A1 A2 A3 --new B1 B2 B3",
          "three runs a side and more can be tested; exact counts need one run a side, "
          "whatever else the machine does: culprit record --engine simulate, of both",
          style_);
    }
    if (!difference_.is_exact && difference_.total.verdict == ChangeVerdict::same) {
      return print_next("culprit record --engine simulate -o NEW.culprit PROGRAM",
                        "of both, then culprit diff: exact counts differ by the program alone, and "
                        "not by what else the machine does; or more runs a side",
                        style_);
    }
    const std::optional<Cause>& cause = difference_.total.cause;
    const bool has_tree = !cause || cause->state != Cause::State::unknown;
    if (!what_.runs_are_profiles || !has_tree) return "";
    return print_next("culprit why " + shell_word(what_.rows.names.front()) + " " +
                          shell_word(what_.rows.names[difference_.base_runs]),
                      "which branches of the tree changed", style_);
  }

  const PrintedComparison& what_;
  const Difference& difference_;
  const TextStyle& style_;
};

Json json_row(const RowChange& row, const std::vector<RowLevel>& by) {
  Json names = Json::object();
  for (size_t level = 0; level < by.size() && level < row.key.size(); ++level) {
    names[std::string(level_name(by[level]))] = printable(row.key[level]);
  }
  Json object = {{"names", std::move(names)},
                 {"base", row.base},
                 {"new", row.now},
                 {"base_samples", row.base_samples},
                 {"new_samples", row.now_samples},
                 {"change", row.change ? Json(*row.change) : Json()},
                 {"interval95", Json()},
                 {"tail", row.tail},
                 {"verdict", verdict_word(row.verdict)},
                 {"functions", json_functions(row)},
                 {"cause", row.cause ? json_cause(*row.cause) : Json()}};
  if (row.interval95) object["interval95"] = {row.interval95->low, row.interval95->high};
  return object;
}

std::string print_json(const PrintedComparison& what, const Difference& difference) {
  Json rows = Json::array();
  for (size_t i = 0; i < difference.rows.size() && (what.limit == 0 || i < what.limit); ++i) {
    rows.push_back(json_row(difference.rows[i], what.by));
  }
  Json base = Json::array();
  Json fresh = Json::array();
  for (size_t run = 0; run < what.rows.names.size(); ++run) {
    (run < difference.base_runs ? base : fresh).push_back(printable(what.rows.names[run]));
  }
  return dump(
      {{"schema", "culprit-diff-1"},
       {"base", std::move(base)},
       {"new", std::move(fresh)},
       {"event", printable(what.rows.measure.event)},
       {"unit", what.rows.measure.unit},
       {"provenance", provenance_name(what.rows.measure.provenance)},
       {"tested", !difference.is_spread_assumed},
       {"spread", difference.spread},
       {"rows_untested", difference.rows_untested},
       {"rows", std::move(rows)},
       {"everything", difference.everything ? json_row(*difference.everything, {}) : Json()},
       {"total", json_row(difference.total, {})}});
}

std::string print_csv(const PrintedComparison& what, const Difference& difference) {
  std::string text;
  CsvLine heading(text);
  for (const RowLevel level : what.by) heading.add(level_name(level));
  for (const char* word :
       {"base", "new", "change", "low95", "high95", "tail", "verdict", "functions", "cause"}) {
    heading.add(word);
  }
  heading.end();
  for (const RowChange& row : difference.rows) {
    CsvLine line(text);
    for (const std::string& name : row.key) line.add(name);
    line.add(fmt::format("{}", row.base));
    line.add(fmt::format("{}", row.now));
    line.add(row.change ? fmt::format("{}", *row.change) : "");
    line.add(row.interval95 ? fmt::format("{}", row.interval95->low) : "");
    line.add(row.interval95 ? fmt::format("{}", row.interval95->high) : "");
    line.add(fmt::format("{}", row.tail));
    line.add(verdict_word(row.verdict));
    line.add(describe_functions(row));
    line.add(row.cause ? csv_cause(*row.cause) : "");
    line.end();
  }
  return text;
}

}  // namespace

std::string format_change(double change) {
  const double percent = std::abs(change) < 5e-4 ? 0 : 100 * change;
  return std::abs(percent) < 9.95 ? fmt::format("{:+.1f} %", percent)
                                  : fmt::format("{:+.0f} %", percent);
}

const char* verdict_mark(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::more:
      return "+";
    case ChangeVerdict::less:
      return "-";
    case ChangeVerdict::same:
      return "~";
    case ChangeVerdict::not_tested:
      return "?";
    case ChangeVerdict::too_few:
      return "";
    case ChangeVerdict::fresh:
      return "new";
    case ChangeVerdict::gone:
      return "gone";
  }
  return "";
}

std::string print_difference(const PrintedComparison& what, const Difference& difference,
                             Format format, const TextStyle& style) {
  switch (format) {
    case Format::text:
      return DifferenceText(what, difference, style).print();
    case Format::json:
      return print_json(what, difference);
    case Format::csv:
      return print_csv(what, difference);
  }
  return "";
}

}  // namespace culprit
