// A report for people:
//
//     ./a.out   2 threads, 1.00 s wall, 2.00 s CPU   kvm guest, no PMU
//     time: 2,000 samples at 999 Hz (cpu-clock, sampled)
//
//      ~cycles   ~share   +-   samples  function
//       3.00 G   50.0 %  2.2     1,000  work
//       ...
//     Ledger  0 samples lost
//     Next    culprit annotate work   its source and assembly, with costs

#include <algorithm>
#include <fmt/format.h>

#include "base/names.h"
#include "base/text.h"
#include "model/engine.h"
#include "model/imported.h"
#include "print/event_display.h"
#include "print/header_text.h"
#include "print/text_table.h"
#include "report/report_formats.h"
#include "report/row_key.h"
#include "report/two_run_columns.h"

namespace culprit {

namespace {

constexpr const char* kInlinedMark = " (inlined)";

std::string with_number(const std::string& name, const std::optional<uint32_t>& number) {
  return number ? fmt::format("{} ({})", printable(name), *number) : printable(name);
}

/// Functions give up parameters first and keep the mark of inlined code.
std::string fit_function(const std::string& cell, size_t width) {
  const size_t mark = std::string_view(kInlinedMark).size();
  const size_t indent = std::min(cell.find_first_not_of(' '), cell.size());
  const size_t room = width > indent ? width - indent : 1;
  const std::string blanks(std::min(indent, width - std::min(width, room)), ' ');
  const std::string name = cell.substr(indent);
  if (count_columns(name) > room && name.ends_with(kInlinedMark) && room > mark + 8) {
    return blanks + shorten_name(name.substr(0, name.size() - mark), room - mark) + kInlinedMark;
  }
  return blanks + shorten_name(name, room);
}

std::string fit_plain(const std::string& cell, size_t width) {
  return count_columns(cell) <= width ? cell : printable(elide_middle(cell, width));
}

std::string function_cell(const ReportRow& row) {
  if (!row.function) return "";
  return pretty_name(printable(*row.function)) + (row.inlined ? kInlinedMark : "");
}

/// "file.c:12", or where no line is known the function, or the module.
std::string line_cell(const ReportRow& row, bool or_function) {
  if (row.line)
    return fmt::format("{}:{}", printable(base_name(row.file.value_or("?"))), *row.line);
  return or_function ? function_cell(row) : "-";
}

std::string address_cell(const ReportRow& row) {
  if (!row.address) return "-";
  if (row.end_address) return fmt::format("{:x}-{:x}", *row.address, *row.end_address);
  return fmt::format("{:x}", *row.address);
}

std::string level_cell(RowLevel level, const ReportRow& row, const Levels& by) {
  switch (level) {
    case RowLevel::process:
      return with_number(row.process.value_or(""), row.process_id);
    case RowLevel::comm:
      return printable(row.process.value_or(""));
    case RowLevel::thread:
      return with_number(row.thread.value_or(""), row.thread_id);
    case RowLevel::module:
      return printable(base_name(row.module.value_or("")));
    case RowLevel::function:
      return function_cell(row);
    case RowLevel::line:
      return line_cell(row, !by.function && !by.address());
    case RowLevel::loop:
    case RowLevel::block:
    case RowLevel::instruction:
      return address_cell(row);
    case RowLevel::object:
      return pretty_name(printable(row.object.value_or("")));
    case RowLevel::region:
      return printable(row.region.value_or(""));
  }
  return "";
}

/// Who a row of a tree is.
std::string tree_name(const ReportRow& row) {
  std::vector<std::string> parts;
  if (row.process) parts.push_back(with_number(*row.process, row.process_id));
  if (row.thread) parts.push_back(with_number(*row.thread, row.thread_id));
  if (row.line) parts.push_back(line_cell(row, false));
  if (row.function) parts.push_back(function_cell(row));
  if (row.module) parts.push_back(printable(base_name(*row.module)));
  return fmt::format("{}", fmt::join(parts, "  "));
}

/// A line of a tree: a row, or several that only pass on to one below them, as its first one.
struct TreeLine {
  size_t row;
  size_t folded = 0;  // rows behind the first one
  size_t depth = 0;   // without those that are folded
};

/// Long chains of wrappers are one line: what it hides are three functions or more.
std::vector<TreeLine> fold_wrappers(const std::vector<ReportRow>& rows) {
  std::vector<TreeLine> lines;
  std::vector<size_t> depths;  // shown, by the depth of a row
  for (size_t i = 0; i < rows.size();) {
    size_t end = i + 1;
    while (end < rows.size() && rows[end - 1].passes_through && rows[end].passes_through &&
           rows[end].depth == rows[end - 1].depth + 1) {
      ++end;
    }
    constexpr size_t kFewest = 5;
    if (!rows[i].passes_through || end - i < kFewest) end = i + 1;
    const size_t depth = rows[i].depth;
    depths.resize(depth);
    const size_t shown = depth == 0 ? 0 : depths.back() + 1;
    for (size_t row = i; row < end; ++row) depths.push_back(shown);
    lines.push_back({i, end - i - 1, shown});
    i = end;
  }
  return lines;
}

/// The one label column of a tree: who, indented by depth.
std::string tree_cell(const std::vector<ReportRow>& rows, const TreeLine& line, size_t deepest) {
  const size_t step = deepest > 12 ? 1 : 2;
  std::string text(std::min<size_t>(line.depth * step, 24), ' ');
  text += tree_name(rows[line.row]);
  if (line.folded == 0) return text;
  return text +
         fmt::format("  ..{}..  {}", line.folded - 1, tree_name(rows[line.row + line.folded]));
}

class ReportText {
 public:
  ReportText(const Profile& profile, const ReportTable& table, const TextStyle& style)
      : profile_(profile),
        table_(table),
        style_(style),
        by_(Levels::of(table.options.by)),
        nothing_(table.events.size()),
        tree_lines_(fold_wrappers(table.rows)) {}

  std::string print() {
    std::string text = print_header(profile_, table_.totals, style_, most_events()) + "\n";
    for (const std::string& remark : table_.remarks) {
      text += wrap(printable(remark), style_.width, 2) + "\n";
    }
    if (!table_.remarks.empty()) text += "\n";
    text += coloured_heading(print_table(columns(), style_.width));
    text += "\n" + legend();
    text += print_ledger(table_.ledger, style_);
    text += next_step();
    return text;
  }

 private:
  /// What stands in the lines of the table: rows, the rest, what is shown, everything.
  struct Line {
    const std::vector<Value>* values;
    const ReportRow* row;  // nullptr: a summing line
    std::string label;
  };

  /// How many totals stand above the table. Where its columns are costs, the cycles say enough.
  size_t most_events() const {
    const bool columns_say_it =
        table_.options.columns == Columns::hca ||
        (table_.options.columns == Columns::events && !table_.shown_events.empty());
    return columns_say_it ? 1 : 8;
  }

  bool is_tree() const { return table_.options.tree != Tree::none; }

  std::vector<Line> lines() const {
    std::vector<Line> result;
    if (is_tree()) {
      for (const TreeLine& line : tree_lines_) {
        const ReportRow& row = table_.rows[line.row];
        result.push_back({&row.values, &row, ""});
      }
    } else {
      for (const ReportRow& row : table_.rows) result.push_back({&row.values, &row, ""});
    }
    if (table_.rest_rows > 0) result.push_back(rest_line());
    const bool filtered = !table_.options.filters.empty();
    if (filtered) result.push_back({&table_.shown, nullptr, "shown"});
    result.push_back({&table_.totals, nullptr, filtered ? "everything" : "total"});
    return result;
  }

  /// What is in no row. Below a row of a tree its values are the row's already.
  Line rest_line() const {
    if (!is_tree()) {
      return {&table_.rest, nullptr, fmt::format("({} more)", format_thousands(table_.rest_rows))};
    }
    const size_t inside = table_.rest_rows - table_.rest_apart_rows;
    const bool is_apart = table_.rest_apart_rows > 0;
    std::string label;
    if (is_apart) label = fmt::format("({} more", format_thousands(table_.rest_apart_rows));
    if (inside > 0) {
      label +=
          fmt::format("{}{} below the rows above", is_apart ? "; " : "(", format_thousands(inside));
    }
    return {is_apart ? &table_.rest_apart : &nothing_, nullptr, label + ")"};
  }

  /// The numbers left of the names: those of the first event, then as many as fit, those that were
  /// asked for first.
  std::vector<TextColumn> columns() const {
    const std::vector<Line> all = lines();
    const std::vector<ShownEvent> shown = shown_events();
    const bool is_chosen = !table_.shown_events.empty();  // by who made the table
    std::vector<TextColumn> result;
    if (shown.empty()) {
      add_label_columns(all, result);
      return result;
    }
    add_value_columns(all, shown.front().event, true, result);
    if (!shown.front().heading.empty()) {
      result.front().heading = marked(shown.front().event, shown.front().heading);
    }
    const size_t room = columns_room();
    size_t left = room - std::min(room, width_of_columns(result));
    const auto fits = [&left](const std::vector<TextColumn>& columns) {
      if (width_of_columns(columns) > left) return false;
      left -= width_of_columns(columns);
      return true;
    };
    std::vector<TextColumn> further;
    const auto add_further = [&](bool asked) {
      for (size_t i = 1; i < shown.size(); ++i) {
        const Value& total = table_.totals[shown[i].event];
        if (is_asked(shown[i].event) != asked || (total.samples == 0 && total.value == 0)) continue;
        std::vector<TextColumn> one;
        add_value_columns(all, shown[i].event, false, one);
        if (!shown[i].heading.empty()) {
          one.front().heading = marked(shown[i].event, shown[i].heading);
        }
        if (fits(one)) std::move(one.begin(), one.end(), std::back_inserter(further));
      }
    };
    add_further(true);
    std::vector<TextColumn> derived = derived_columns(all, left);
    left -= std::min(left, width_of_columns(derived));
    std::vector<TextColumn> inclusive;
    if (has_inclusive()) inclusive.push_back(inclusive_column(all, shown.front().event));
    if (!fits(inclusive)) inclusive.clear();
    std::vector<TextColumn> samples;
    if (has_samples() && !is_chosen) samples.push_back(samples_column(all, shown.front().event));
    if (!fits(samples)) samples.clear();
    add_further(false);
    std::vector<TextColumn> sums;
    if (!is_tree() && table_.options.columns == Columns::events && !is_chosen) {
      sums.push_back(running_sum_column(shown.front().event));
    }
    if (!fits(sums)) sums.clear();
    for (std::vector<TextColumn>* part : {&inclusive, &sums, &samples, &further, &derived}) {
      std::move(part->begin(), part->end(), std::back_inserter(result));
    }
    add_label_columns(all, result);
    return result;
  }

  /// What was asked for (--columns events:NAME, --sort NAME), then what says most of a simulated
  /// run, then the others as they come.
  std::vector<ShownEvent> shown_events() const {
    if (table_.events.empty()) return {};
    const bool is_chosen = !table_.shown_events.empty();
    std::vector<ShownEvent> all{is_chosen ? table_.shown_events.front()
                                          : ShownEvent{0, short_heading(0)}};
    const auto add = [&](std::string_view name) {
      for (size_t event = 1; event < table_.events.size(); ++event) {
        if (profile_.strings.text(table_.events[event].name) != name) continue;
        add_event(event, short_heading(event), all);
        return;
      }
    };
    for (const std::string& name : table_.options.events) add(name);
    add(table_.options.sort);
    if (!table_.options.events.empty()) return all;
    if (is_chosen) {
      for (const ShownEvent& one : table_.shown_events) add_event(one.event, one.heading, all);
      return all;
    }
    for (const ShortHeading& one : short_headings()) add(one.event);
    for (size_t event = 1; event < table_.events.size(); ++event) {
      add_event(event, short_heading(event), all);
    }
    return all;
  }

  bool is_asked(size_t event) const {
    const std::string& name = profile_.strings.text(table_.events[event].name);
    const std::vector<std::string>& events = table_.options.events;
    return name == table_.options.sort ||
           std::find(events.begin(), events.end(), name) != events.end();
  }

  static void add_event(size_t event, const std::string& heading, std::vector<ShownEvent>& to) {
    const bool is_known = std::any_of(to.begin(), to.end(),
                                      [&](const ShownEvent& one) { return one.event == event; });
    if (!is_known) to.push_back({event, heading});
  }

  /// Names of events that would take the room of functions are cut; "" leaves the event's own.
  std::string short_heading(size_t event) const {
    constexpr size_t kWidest = 18;
    const Event& what = table_.events[event];
    const std::string& name = profile_.strings.text(what.name);
    if (what.unit == Unit::ns) return "";
    if (engine_of(profile_, what) == Engine::simulate && event > 0) {
      for (const ShortHeading& one : short_headings()) {
        if (name == one.event) return one.heading;
      }
    }
    if (count_columns(printable(name)) <= kWidest) return "";
    return elide_middle(printable(name), kWidest);
  }

  bool has_inclusive() const {
    return !is_tree() && !table_.rows.empty() && !table_.rows.front().inclusive.empty();
  }

  /// Whether the first event is estimated from windows of a simulated run.
  bool has_windows() const {
    return !table_.totals.empty() && table_.totals[0].samples == 0 && table_.totals[0].error > 0;
  }

  bool has_samples() const {
    return !table_.events.empty() && table_.events[0].provenance == Provenance::sampled &&
           table_.options.columns == Columns::events;
  }

  TextColumn inclusive_column(const std::vector<Line>& all, size_t event) const {
    TextColumn column{"incl", true, nullptr, 2, {}};
    for (const Line& line : all) {
      const bool has = line.row != nullptr && event < line.row->inclusive.size();
      column.cells.push_back(has ? format_share(line.row->inclusive[event], table_.totals[event])
                                 : "");
    }
    return column;
  }

  TextColumn samples_column(const std::vector<Line>& all, size_t event) const {
    TextColumn column{"samples", true, nullptr, 2, {}};
    for (const Line& line : all) {
      const uint64_t samples = (*line.values)[event].samples;
      column.cells.push_back(samples == 0 ? "-" : format_thousands(samples));
    }
    return column;
  }

  /// The share of each row with all above it.
  TextColumn running_sum_column(size_t event) const {
    TextColumn column{"sum", true, nullptr, 2, {}};
    Value sum;
    for (const Line& line : lines()) {
      if (line.row == nullptr) {
        column.cells.emplace_back();
        continue;
      }
      sum.samples += line.row->values[event].samples;
      sum.value += line.row->values[event].value;
      column.cells.push_back(format_share(sum, table_.totals[event]));
    }
    return column;
  }

  std::string marked(size_t event, const std::string& heading) const {
    return std::string(" ") + provenance_mark(table_.events[event].provenance) + heading;
  }

  /// The derived columns, as many as fit.
  std::vector<TextColumn> derived_columns(const std::vector<Line>& all, size_t room) const {
    std::vector<TextColumn> result;
    for (const DerivedColumn& column : table_.derived) {
      const Provenance provenance = column.provenance.value_or(table_.events[0].provenance);
      TextColumn cells{
          fmt::format(" {}{}", provenance_mark(provenance), column.heading), true, nullptr, 1, {}};
      for (const Line& line : all) cells.cells.push_back(format_derived(column, *line.values));
      result.push_back(std::move(cells));
      if (width_of_columns(result) <= room) continue;
      result.pop_back();
      break;
    }
    return result;
  }

  /// The totals above the table name every event; columns are those that leave room for names.
  size_t columns_room() const {
    const size_t labels = table_.options.by.size() + (by_.address() && !by_.function ? 1 : 0);
    const bool has_more = !table_.derived.empty() || !table_.shown_events.empty();
    const size_t names = has_more ? 8 + 12 * labels : 16 + 14 * labels;
    return style_.width > names ? style_.width - names : 0;
  }

  void add_value_columns(const std::vector<Line>& all, size_t event, bool first,
                         std::vector<TextColumn>& result) const {
    const Event& what = table_.events[event];
    const Value& total = table_.totals[event];
    const EventDisplay display(profile_, what);
    const bool sampled = what.provenance == Provenance::sampled;
    const bool selfs = first && table_.options.tree == Tree::callees;
    TextColumn amounts{display.heading(), true, nullptr, 2, {}};
    TextColumn shares{
        std::string(1, provenance_mark(what.provenance)) + "share", true, nullptr, 2, {}};
    TextColumn self{"self", true, nullptr, 2, {}};
    TextColumn widths{"+-", true, nullptr, 2, {}};
    TextColumn skids{"", false, nullptr, 0, {}};
    amounts.heading = " " + amounts.heading;
    for (const Line& line : all) {
      const Value& value = (*line.values)[event];
      amounts.cells.push_back(display.format(value));
      shares.cells.push_back(format_share(value, total));
      self.cells.push_back(line.row == nullptr || line.row->self.empty()
                               ? ""
                               : format_share(line.row->self[event], total));
      widths.cells.push_back(line.row == nullptr ? "" : format_half_width(what, value, total));
      skids.cells.push_back(line.row != nullptr && line.row->skid ? "^" : "");
    }
    result.push_back(std::move(amounts));
    if (!first) return;  // further events: the value only
    result.push_back(std::move(shares));
    if (selfs) result.push_back(std::move(self));
    const bool has_errors = std::any_of(widths.cells.begin(), widths.cells.end(),
                                        [](const std::string& cell) { return !cell.empty(); });
    if (!sampled && !has_errors) return;
    result.push_back(std::move(widths));
    if (table_.options.columns != Columns::events) return;
    if (has_skid()) result.push_back(std::move(skids));
  }

  void add_label_columns(const std::vector<Line>& all, std::vector<TextColumn>& result) const {
    if (is_tree()) {
      size_t deepest = 0;
      for (const TreeLine& line : tree_lines_) deepest = std::max(deepest, line.depth);
      TextColumn labels{table_.options.tree == Tree::callees ? "function, and what it calls"
                                                             : "function, and who calls it",
                        false,
                        fit_function,
                        2,
                        {}};
      for (size_t i = 0; i < all.size(); ++i) {
        labels.cells.push_back(
            all[i].row == nullptr ? all[i].label : tree_cell(table_.rows, tree_lines_[i], deepest));
      }
      result.push_back(std::move(labels));
      return;
    }
    std::vector<RowLevel> levels = table_.options.by;
    // An address alone says little: its function stands beside it.
    if (by_.address() && !by_.function) levels.push_back(RowLevel::function);
    for (const RowLevel level : levels) add_level_column(level, all, result);
    if (result.empty()) return;
    TextColumn& last = result[result.size() - levels.size()];
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].row == nullptr) last.cells[i] = all[i].label;
    }
  }

  void add_level_column(RowLevel level, const std::vector<Line>& all,
                        std::vector<TextColumn>& result) const {
    static constexpr const char* kHeadings[] = {"process",  "comm",   "thread", "module",
                                                "function", "line",   "loop",   "block",
                                                "address",  "object", "region"};
    const bool name = level == RowLevel::function || level == RowLevel::line;
    TextColumn column{
        kHeadings[static_cast<size_t>(level)], false, name ? fit_function : fit_plain, 2, {}};
    if (level == RowLevel::module) column.enough = 16;  // the names beside it say more
    for (const Line& line : all) {
      column.cells.push_back(line.row == nullptr ? "" : level_cell(level, *line.row, by_));
    }
    result.push_back(std::move(column));
  }

  bool has_skid() const {
    if (table_.options.columns != Columns::events) return false;
    return std::any_of(table_.rows.begin(), table_.rows.end(),
                       [](const ReportRow& row) { return row.skid; });
  }

  std::string coloured_heading(const std::string& table) const {
    if (!style_.colour) return table;
    const size_t end = table.find('\n');
    return "\x1b[1m" + table.substr(0, end) + "\x1b[0m" + table.substr(end);
  }

  std::string legend() const {
    const bool sampled =
        !table_.events.empty() && table_.events[0].provenance == Provenance::sampled;
    std::string text;
    if (sampled) {
      text += wrap("~ sampled   +- half of the 95 % interval, in points", style_.width, 2) + "\n";
    } else if (has_windows()) {
      text += wrap(
                  "+- half of the 95 % interval, in points, by how windows of the run differ; the "
                  "errors of the model are not in it",
                  style_.width, 2) +
              "\n";
    }
    if (has_skid() && sampled) {
      text += wrap("^ skid: samples land a little late; the code just before may own some",
                   style_.width, 2) +
              "\n";
    }
    return text;
  }

  /// Whether the events tell what cycles went to, and these columns do not yet.
  bool has_costs() const {
    constexpr size_t kFewEvents = 4;
    const bool is_simulated =
        std::any_of(profile_.events.begin(), profile_.events.end(), [&](const Event& event) {
          return engine_of(profile_, event) == Engine::simulate && event.unit == Unit::cycles;
        });
    size_t hardware = 0;
    for (const Event& event : profile_.events) {
      hardware += engine_of(profile_, event) == Engine::pmu ? 1 : 0;
    }
    return table_.options.columns == Columns::events && (is_simulated || hardware > kFewEvents);
  }

  /// The most useful command to type after this report.
  std::string next_step() const {
    const bool none =
        table_.totals.empty() || (table_.totals[0].samples == 0 && !(table_.totals[0].value > 0));
    if (none && is_imported(profile_))
      return print_next("perf report --stats", "nothing was sampled: what its file has", style_);
    if (none) return print_next("culprit doctor", "nothing was sampled: what works here", style_);
    if (has_costs())
      return print_next(with_file("culprit why", style_), "what took these cycles", style_);
    if (!by_.code() && !is_tree()) {
      return print_next(with_file("culprit report --by function", style_), "functions", style_);
    }
    if (!by_.function && !by_.address() && by_.line && !is_tree()) {
      return print_next(with_file("culprit report --by line,function", style_),
                        "the functions of these lines", style_);
    }
    if (table_.hottest.empty()) {
      return print_next(with_file("culprit report --by module", style_),
                        "no function here has a name", style_);
    }
    return print_next(with_file("culprit annotate " + table_.hottest, style_),
                      "its source and assembly", style_);
  }

  const Profile& profile_;
  const ReportTable& table_;
  const TextStyle& style_;
  Levels by_;
  std::vector<Value> nothing_;
  std::vector<TreeLine> tree_lines_;  // of trees
};

}  // namespace

std::string print_report_text(const Profile& profile, const ReportTable& table,
                              const TextStyle& style) {
  return ReportText(profile, table, style).print();
}

}  // namespace culprit
