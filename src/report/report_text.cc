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
#include "print/event_display.h"
#include "print/header_text.h"
#include "print/text_table.h"
#include "report/annotate_word.h"
#include "report/report_formats.h"
#include "report/row_key.h"

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

std::string level_cell(Level level, const ReportRow& row, const Levels& by) {
  switch (level) {
    case Level::process:
      return with_number(row.process.value_or(""), row.process_id);
    case Level::thread:
      return with_number(row.thread.value_or(""), row.thread_id);
    case Level::module:
      return printable(base_name(row.module.value_or("")));
    case Level::function:
      return function_cell(row);
    case Level::line:
      return line_cell(row, !by.function && !by.address());
    case Level::block:
    case Level::instruction:
      return address_cell(row);
  }
  return "";
}

/// The one label column of a tree: who, indented by depth.
std::string tree_cell(const ReportRow& row, size_t deepest) {
  const size_t step = deepest > 12 ? 1 : 2;
  std::string text(std::min<size_t>(row.depth * step, 24), ' ');
  std::vector<std::string> parts;
  if (row.process) parts.push_back(with_number(*row.process, row.process_id));
  if (row.thread) parts.push_back(with_number(*row.thread, row.thread_id));
  if (row.line) parts.push_back(line_cell(row, false));
  if (row.function) parts.push_back(function_cell(row));
  if (row.module) parts.push_back(printable(base_name(*row.module)));
  return text + fmt::format("{}", fmt::join(parts, "  "));
}

class ReportText {
 public:
  ReportText(const Profile& profile, const ReportTable& table, const TextStyle& style)
      : profile_(profile), table_(table), style_(style), by_(Levels::of(table.options.by)) {}

  std::string print() {
    std::string text = print_header(profile_, table_.totals, style_, most_events()) + "\n";
    for (const std::string& remark : table_.remarks) {
      text += wrap(printable(remark), style_.width, 2) + "\n";
    }
    if (!table_.remarks.empty()) text += "\n";
    text += coloured_heading(print_table(columns(), style_.width));
    text += "\n" + legend();
    text += print_ledger(profile_.ledger, style_);
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

  /// Of costs the cycles say enough above the table.
  size_t most_events() const {
    const bool columns_say_it =
        table_.options.columns == Columns::hca ||
        (table_.options.columns == Columns::events && !table_.shown_events.empty());
    return columns_say_it ? 1 : 8;
  }

  bool is_tree() const { return table_.options.tree != Tree::none; }

  std::vector<Line> lines() const {
    std::vector<Line> result;
    for (const ReportRow& row : table_.rows) result.push_back({&row.values, &row, ""});
    if (table_.rest_rows > 0) {
      result.push_back(
          {&table_.rest, nullptr, fmt::format("({} more)", format_thousands(table_.rest_rows))});
    }
    const bool filtered = !table_.options.filters.empty();
    if (filtered) result.push_back({&table_.shown, nullptr, "shown"});
    result.push_back({&table_.totals, nullptr, filtered ? "everything" : "total"});
    return result;
  }

  std::vector<TextColumn> columns() const {
    const std::vector<Line> all = lines();
    const size_t room = columns_room();
    std::vector<TextColumn> result;
    std::vector<TextColumn> derived;  // before further events, where room is short
    for (const auto& [event, heading] : shown_events()) {
      const bool first = result.empty();
      const Value& total = table_.totals[event];
      if (!first && total.samples == 0 && total.value == 0) continue;
      std::vector<TextColumn> further;
      add_value_columns(all, event, first, further);
      if (!heading.empty()) further.front().heading = marked(event, heading);
      if (!first && width_of(result) + width_of(derived) + width_of(further) > room) continue;
      std::move(further.begin(), further.end(), std::back_inserter(result));
      if (first) derived = derived_columns(all, room - std::min(room, width_of(result)));
    }
    std::move(derived.begin(), derived.end(), std::back_inserter(result));
    add_label_columns(all, result);
    return result;
  }

  std::vector<ShownEvent> shown_events() const {
    if (!table_.shown_events.empty()) return table_.shown_events;
    std::vector<ShownEvent> all;
    for (size_t event = 0; event < table_.events.size(); ++event) all.push_back({event, ""});
    return all;
  }

  std::string marked(size_t event, const std::string& heading) const {
    return std::string(" ") + provenance_mark(table_.events[event].provenance) + heading;
  }

  /// As many as fit.
  std::vector<TextColumn> derived_columns(const std::vector<Line>& all, size_t room) const {
    std::vector<TextColumn> result;
    for (const DerivedColumn& column : table_.derived) {
      const Provenance provenance = column.provenance.value_or(table_.events[0].provenance);
      TextColumn cells{
          fmt::format(" {}{}", provenance_mark(provenance), column.heading), true, nullptr, 1, {}};
      for (const Line& line : all) cells.cells.push_back(format_derived(column, *line.values));
      result.push_back(std::move(cells));
      if (width_of(result) <= room) continue;
      result.pop_back();
      break;
    }
    return result;
  }

  static size_t width_of(const std::vector<TextColumn>& columns) {
    size_t width = 0;
    for (const TextColumn& column : columns) {
      size_t widest = count_columns(column.heading);
      for (const std::string& cell : column.cells) widest = std::max(widest, count_columns(cell));
      width += widest + column.gap;
    }
    return width;
  }

  /// The totals above the table name every event; columns are those that leave room for names.
  size_t columns_room() const {
    const size_t labels = table_.options.by.size() + (by_.address() && !by_.function ? 1 : 0);
    const size_t names = table_.derived.empty() ? 30 : 8 + 12 * labels;
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
    TextColumn samples{"samples", true, nullptr, 2, {}};
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
      samples.cells.push_back(value.samples == 0 ? "-" : format_thousands(value.samples));
    }
    result.push_back(std::move(amounts));
    if (!first) return;  // further events: the value only
    result.push_back(std::move(shares));
    if (selfs) result.push_back(std::move(self));
    if (!sampled) return;
    result.push_back(std::move(widths));
    if (table_.options.columns != Columns::events) return;
    if (has_skid()) result.push_back(std::move(skids));
    const bool has_chosen = !table_.shown_events.empty();  // what was executed says more
    if (!has_chosen) result.push_back(std::move(samples));
  }

  void add_label_columns(const std::vector<Line>& all, std::vector<TextColumn>& result) const {
    if (is_tree()) {
      size_t deepest = 0;
      for (const ReportRow& row : table_.rows) deepest = std::max(deepest, row.depth);
      TextColumn labels{table_.options.tree == Tree::callees ? "function, and what it calls"
                                                             : "function, and who calls it",
                        false,
                        fit_function,
                        2,
                        {}};
      for (const Line& line : all) {
        labels.cells.push_back(line.row == nullptr ? line.label : tree_cell(*line.row, deepest));
      }
      result.push_back(std::move(labels));
      return;
    }
    std::vector<Level> levels = table_.options.by;
    // An address alone says little: its function stands beside it.
    if (by_.address() && !by_.function) levels.push_back(Level::function);
    for (const Level level : levels) add_level_column(level, all, result);
    if (result.empty()) return;
    TextColumn& last = result[result.size() - levels.size()];
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].row == nullptr) last.cells[i] = all[i].label;
    }
  }

  void add_level_column(Level level, const std::vector<Line>& all,
                        std::vector<TextColumn>& result) const {
    static constexpr const char* kHeadings[] = {"process", "thread", "module", "function",
                                                "line",    "block",  "address"};
    const bool name = level == Level::function || level == Level::line;
    TextColumn column{
        kHeadings[static_cast<size_t>(level)], false, name ? fit_function : fit_plain, 2, {}};
    if (level == Level::module) column.enough = 16;  // the names beside it say more
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
    if (sampled)
      text += wrap("~ sampled   +- half of the 95 % interval, in points", style_.width, 2) + "\n";
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
          return profile_.strings.text(event.engine) == "simulate" && event.unit == Unit::cycles;
        });
    size_t hardware = 0;
    for (const Event& event : profile_.events) {
      hardware += profile_.strings.text(event.engine) == "pmu" ? 1 : 0;
    }
    return table_.options.columns == Columns::events && (is_simulated || hardware > kFewEvents);
  }

  /// The most useful command to type after this report.
  std::string next_step() const {
    const bool none =
        table_.totals.empty() || (table_.totals[0].samples == 0 && !(table_.totals[0].value > 0));
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
    const ReportRow* hottest = nullptr;
    for (const ReportRow& row : table_.rows) {
      if (!can_annotate(row)) continue;
      if (hottest == nullptr || own_value(row) > own_value(*hottest)) hottest = &row;
    }
    if (hottest == nullptr) {
      return print_next(with_file("culprit report --by module", style_),
                        "no function here has a name", style_);
    }
    const size_t room = style_.width > 40 ? style_.width - 30 : 10;
    const std::string word = make_annotate_word(table_, *hottest->function, room);
    return print_next(with_file("culprit annotate " + word, style_), "its source and assembly",
                      style_);
  }

  /// In a tree by callers the topmost rows are the sampled functions, below are callers.
  double own_value(const ReportRow& row) const {
    const bool self = table_.options.tree == Tree::callees;
    return self && !row.self.empty() ? row.self[0].value : row.values[0].value;
  }

  static bool can_annotate(const ReportRow& row) {
    return row.function && !row.function->empty() && row.function->front() != '[' &&
           row.function->find("+0x") == std::string::npos;
  }

  const Profile& profile_;
  const ReportTable& table_;
  const TextStyle& style_;
  Levels by_;
};

}  // namespace

std::string print_report_text(const Profile& profile, const ReportTable& table,
                              const TextStyle& style) {
  return ReportText(profile, table, style).print();
}

}  // namespace culprit
