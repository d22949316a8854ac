// Time for people. Everything together is a table, a line for each slice:
//
//      from s   ~time  ~share   +-  CPUs  =off-cpu
//        0.00  412 ms  10.1 %  0.9  1.03    388 ms  ##########
//
// and lanes are a line each, a letter of their strip for each slice:
//
//       ~time  ~share   +-  thread          0 s                            4.0 s
//      3.02 s  61.2 %  1.4  worker (3120)   ##########:  .#########--------+###

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <span>

#include "base/names.h"
#include "base/text.h"
#include "print/event_display.h"
#include "print/header_text.h"
#include "print/text_table.h"
#include "report/row_filter.h"
#include "report/row_key.h"
#include "timeline/timeline_formats.h"

namespace culprit {

namespace {

constexpr size_t kShortestBar = 12;
constexpr size_t kLongestBar = 60;

/// The digits behind the point that tell slices of this width apart.
std::string format_seconds(double ns, uint64_t width_ns) {
  const int digits = width_ns >= 1'000'000'000 ? 1 : 2;
  return fmt::format("{:.{}f}", ns * 1e-9, digits);
}

std::string fit_name(const std::string& cell, size_t width) {
  return count_columns(cell) <= width ? cell : printable(elide_middle(cell, width));
}

std::string name_of(const std::optional<std::string>& name, const std::optional<uint32_t>& number) {
  const std::string text = printable(name.value_or(""));
  return number ? fmt::format("{} ({})", text, *number) : text;
}

class TimelineText {
 public:
  TimelineText(const Profile& profile, const Timeline& timeline, const TextStyle& style)
      : profile_(profile),
        timeline_(timeline),
        style_(style),
        by_(Levels::of(timeline.options.by)) {}

  std::string print() {
    std::string text = print_header(profile_, timeline_.totals, style_, 1) + "\n";
    const bool has_lanes = !timeline_.options.by.empty();
    if (profile_.events.empty()) return text;
    text += print_table(has_lanes ? lane_columns() : slice_columns(), style_.width);
    text += "\n" + legend(has_lanes) + print_ledger(timeline_.ledger, style_);
    const std::string command =
        has_lanes ? "culprit report --by function" : "culprit report --by time,thread";
    return text + print_next(with_file(command, style_),
                             has_lanes ? "functions" : "a strip for each thread", style_);
  }

 private:
  struct SliceLine {
    const RunSlices* run;  // null: a summing line
    size_t slice = 0;
    std::vector<Value> values;
    double kernel = 0;  // of the first event
    std::string label;
  };

  [[nodiscard]] bool is_time() const { return profile_.events[0].unit == Unit::ns; }
  [[nodiscard]] double rate(const SliceLine& line) const {
    return line.run == nullptr ? 0 : line.values[0].value / line.run->length_ns(line.slice);
  }

  std::vector<SliceLine> slice_lines() {
    std::vector<SliceLine> lines;
    for (size_t run = 0; run < timeline_.runs.size(); ++run) {
      const std::vector<std::vector<Value>> sums = timeline_.sums_of(run);
      const size_t first = lines.size();
      for (size_t slice = 0; slice < sums.size(); ++slice) {
        lines.push_back({&timeline_.runs[run], slice, sums[slice], 0, ""});
      }
      for (const Lane& lane : timeline_.lanes) {
        if (lane.run != run) continue;
        for (const LaneSeries& series : lane.series) {
          if (series.event != 0 || series.mode != Mode::kernel) continue;
          for (size_t i = 0; i < series.values.size(); ++i) {
            lines[first + series.first + i].kernel += series.values[i].value;
          }
        }
      }
    }
    add_sums(lines);
    return lines;
  }

  void add_sums(std::vector<SliceLine>& lines) const {
    // Of events that are columns: simulated counts have no times, and none is missing.
    std::vector<size_t> events = further_events(SIZE_MAX);
    events.push_back(0);
    const auto is_there = [&](size_t event) {
      const Value& value = timeline_.without_time[event];
      return value.samples != 0 || value.value != 0;
    };
    const bool is_filtered = !timeline_.options.filters.empty();
    if (is_filtered) lines.push_back({nullptr, 0, timeline_.shown, 0, "shown"});
    if (std::ranges::any_of(events, is_there)) {
      lines.push_back({nullptr, 0, timeline_.without_time, 0, "[time not known]"});
    }
    lines.push_back({nullptr, 0, timeline_.totals, 0, is_filtered ? "everything" : "total"});
  }

  void add_values(size_t event, bool is_first, const std::vector<const std::vector<Value>*>& rows,
                  std::vector<TextColumn>& columns) const {
    const EventDisplay display(profile_, profile_.events[event]);
    const Value& total = timeline_.totals[event];
    TextColumn amounts{display.heading(), true, nullptr, 2, {}};
    const char mark = provenance_mark(profile_.events[event].provenance);
    TextColumn shares{fmt::format("{}share", mark), true, nullptr, 2, {}};
    TextColumn errors{"+-", true, nullptr, 2, {}};
    for (const std::vector<Value>* row : rows) {
      amounts.cells.push_back(display.format((*row)[event]));
      shares.cells.push_back(format_share((*row)[event], total));
      const bool is_all = row == rows.back();  // the total, which is the last line
      errors.cells.push_back(
          is_all ? "" : format_half_width(profile_.events[event], (*row)[event], total));
    }
    columns.push_back(std::move(amounts));
    if (!is_first) return;
    columns.push_back(std::move(shares));
    const bool has_errors =
        std::ranges::any_of(errors.cells, [](const std::string& cell) { return !cell.empty(); });
    if (has_errors) columns.push_back(std::move(errors));
  }

  /// Those beside the first that have something: at most so many.
  [[nodiscard]] std::vector<size_t> further_events(size_t most) const {
    std::vector<size_t> events;
    for (size_t event = 1; event < timeline_.totals.size() && events.size() < most; ++event) {
      if (timeline_.shown[event].value > 0) events.push_back(event);
    }
    return events;
  }

  std::vector<TextColumn> slice_columns() {
    const std::vector<SliceLine> lines = slice_lines();
    std::vector<TextColumn> columns;
    if (timeline_.runs.size() > 1) {
      TextColumn runs{"run", true, nullptr, 2, {}};
      for (const SliceLine& line : lines) {
        runs.cells.push_back(line.run == nullptr ? "" : std::to_string(line.run->run.value + 1));
      }
      columns.push_back(std::move(runs));
    }
    TextColumn begins{"from s", true, nullptr, 1, {}};
    std::vector<const std::vector<Value>*> rows;
    double most = 0;
    for (const SliceLine& line : lines) {
      begins.cells.push_back(line.run == nullptr
                                 ? ""
                                 : format_seconds(static_cast<double>(line.slice) *
                                                      static_cast<double>(line.run->width_ns),
                                                  line.run->width_ns));
      rows.push_back(&line.values);
      most = std::max(most, rate(line));
    }
    columns.push_back(std::move(begins));
    add_values(0, true, rows, columns);
    if (is_time()) {
      TextColumn cpus{"CPUs", true, nullptr, 2, {}};
      for (const SliceLine& line : lines) {
        cpus.cells.push_back(
            line.run == nullptr || rate(line) == 0 ? "" : fmt::format("{:.2f}", rate(line)));
      }
      columns.push_back(std::move(cpus));
    }
    for (const size_t event : further_events(2)) add_values(event, false, rows, columns);
    const size_t taken = width_of_columns(columns) + 2;
    const size_t room =
        std::clamp(style_.width - std::min(style_.width, taken), kShortestBar, kLongestBar);
    TextColumn bars{"", false, nullptr, 2, {}};
    for (const SliceLine& line : lines) {
      bars.cells.push_back(line.run == nullptr ? line.label : bar(line, most, room));
    }
    columns.push_back(std::move(bars));
    return columns;
  }

  [[nodiscard]] std::string bar(const SliceLine& line, double most, size_t room) const {
    if (!(most > 0) || line.values[0].value == 0) return "";
    const double length = static_cast<double>(room) * rate(line) / most;
    const auto all = std::max<size_t>(1, static_cast<size_t>(std::lround(length)));
    const double part = line.kernel / line.values[0].value;
    const auto kernel = std::min(all, static_cast<size_t>(std::lround(part * length)));
    return std::string(all - kernel, '#') + std::string(kernel, '=');
  }

  std::vector<TextColumn> lane_columns() {
    std::vector<TextColumn> columns;
    std::vector<SliceLine> sums;
    add_sums(sums);
    std::vector<const std::vector<Value>*> rows;
    for (const Lane& lane : shown_lanes()) rows.push_back(&lane.values);
    const std::optional<std::vector<Value>> rest = sum_of_rest();
    if (rest) rows.push_back(&*rest);
    for (const SliceLine& line : sums) rows.push_back(&line.values);
    add_values(0, true, rows, columns);
    for (const size_t event : further_events(1)) add_values(event, false, rows, columns);
    columns.front().gap = 1;
    add_names(sums, columns);
    const size_t slices = timeline_.runs.empty() ? 0 : timeline_.runs.front().count;
    TextColumn strips{strip_heading(slices), false, nullptr, 2, {}};
    for (const Lane& lane : shown_lanes()) strips.cells.push_back(strip(lane));
    while (strips.cells.size() < rows.size()) strips.cells.emplace_back();
    columns.push_back(std::move(strips));
    return columns;
  }

  [[nodiscard]] std::span<const Lane> shown_lanes() const {
    constexpr size_t kMostLanes = 40;
    return std::span(timeline_.lanes).first(std::min(timeline_.lanes.size(), kMostLanes));
  }

  [[nodiscard]] std::optional<std::vector<Value>> sum_of_rest() const {
    const size_t shown = shown_lanes().size();
    if (shown == timeline_.lanes.size()) return std::nullopt;
    std::vector<Value> rest(timeline_.totals.size());
    for (const Lane& lane : std::span(timeline_.lanes).subspan(shown)) {
      for (size_t event = 0; event < rest.size(); ++event) {
        rest[event].samples += lane.values[event].samples;
        rest[event].value += lane.values[event].value;
        rest[event].error = std::hypot(rest[event].error, lane.values[event].error);
      }
    }
    return rest;
  }

  void add_names(const std::vector<SliceLine>& sums, std::vector<TextColumn>& columns) const {
    const size_t first = columns.size();
    if (timeline_.runs.size() > 1) {
      TextColumn runs{"run", true, nullptr, 2, {}};
      for (const Lane& lane : shown_lanes()) {
        runs.cells.push_back(std::to_string(timeline_.runs[lane.run].run.value + 1));
      }
      columns.push_back(std::move(runs));
    }
    for (const RowLevel level : timeline_.options.by) {
      TextColumn names{level_name(level), false, fit_name, 2, {}};
      names.enough = level == RowLevel::region ? 28 : 20;
      for (const Lane& lane : shown_lanes()) {
        const ReportRow& who = lane.who;
        names.cells.push_back(level == RowLevel::thread   ? name_of(who.thread, who.thread_id)
                              : level == RowLevel::region ? printable(who.region.value_or(""))
                                                          : name_of(who.process, who.process_id));
      }
      columns.push_back(std::move(names));
    }
    for (size_t i = first; i < columns.size(); ++i) {
      const bool is_label = i + 1 == columns.size();
      if (shown_lanes().size() < timeline_.lanes.size()) {
        columns[i].cells.push_back(
            is_label ? fmt::format("({} more)", timeline_.lanes.size() - shown_lanes().size())
                     : "");
      }
      for (const SliceLine& line : sums) columns[i].cells.push_back(is_label ? line.label : "");
    }
  }

  [[nodiscard]] std::string strip_heading(size_t slices) const {
    if (timeline_.runs.empty()) return "";
    const RunSlices& run = timeline_.runs.front();
    const std::string end =
        format_duration_ns(static_cast<double>(std::max<uint64_t>(run.duration_ns, 1)));
    const std::string begin = "0 s";
    const size_t blanks =
        slices > begin.size() + end.size() ? slices - begin.size() - end.size() : 1;
    return begin + std::string(blanks, ' ') + end;
  }

  /// How much of each slice the lane was on a CPU; of other events, how much of the lane's most.
  [[nodiscard]] std::string strip(const Lane& lane) const {
    const RunSlices& run = timeline_.runs[lane.run];
    std::vector<double> busy(run.count);
    std::vector<double> off(run.count);
    for (const LaneSeries& series : lane.series) {
      const Event& event = profile_.events[series.event];
      const bool is_wait = event.provenance == Provenance::counted && event.unit == Unit::ns;
      if (series.event != 0 && !is_wait) continue;
      for (size_t i = 0; i < series.values.size(); ++i) {
        const size_t slice = series.first + i;
        (is_wait ? off : busy)[slice] += series.values[i].value / run.length_ns(slice);
      }
    }
    const double whole = is_time() ? 1 : std::max(*std::ranges::max_element(busy), 1e-300);
    std::string text;
    for (size_t slice = 0; slice < run.count; ++slice) {
      const double share = busy[slice] / whole;
      if (share <= 0.02) {
        text += off[slice] > 0.02 ? '-' : ' ';
      } else {
        text += share < 0.25 ? '.' : share < 0.5 ? ':' : share < 0.75 ? '+' : '#';
      }
    }
    return text;
  }

  [[nodiscard]] std::string legend(bool has_lanes) const {
    std::string text;
    const bool is_sampled = profile_.events[0].provenance == Provenance::sampled;
    if (is_sampled) text += "~ sampled   +- half of the 95 % interval, in points";
    if (has_lanes) {
      text += text.empty() ? "" : "\n  ";
      text += is_time()
                  ? ". : + #  on a CPU for up to a quarter, half, three quarters, all of the slice"
                  : ". : + #  up to a quarter, half, three quarters, all of the lane's most";
      const bool has_waits = std::ranges::any_of(further_events(SIZE_MAX), [&](size_t event) {
        return profile_.events[event].provenance == Provenance::counted &&
               profile_.events[event].unit == Unit::ns;
      });
      if (has_waits) text += "   - off the CPU";
    } else {
      text += text.empty() ? "" : "   ";
      text += "# user code   = kernel";
    }
    std::string wrapped;
    for (const std::string_view line : split(text, '\n')) {
      wrapped += wrap(std::string(trim(line)), style_.width, 2) + "\n";
    }
    return wrapped;
  }

  const Profile& profile_;
  const Timeline& timeline_;
  const TextStyle& style_;
  Levels by_;
};

}  // namespace

std::string print_timeline_text(const Profile& profile, const Timeline& timeline,
                                const TextStyle& style) {
  return TimelineText(profile, timeline, style).print();
}

}  // namespace culprit
