#include "regions/regions_text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <string_view>

#include "base/names.h"
#include "base/text.h"
#include "print/header_text.h"
#include "print/text_table.h"

namespace culprit {
namespace {

/// All times of a table in one unit, so that columns can be compared.
struct TimeUnit {
  const char* word = "s";
  double ns = 1e9;
  [[nodiscard]] std::string format(double time_ns) const {
    return fmt::format("{:.3f}", time_ns / ns);
  }
};

TimeUnit choose_unit(double largest_ns) {
  if (largest_ns >= 1e9) return {};
  if (largest_ns >= 1e6) return {"ms", 1e6};
  return {"us", 1e3};
}

constexpr size_t kMostFindings = 10;

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f}", 100 * part / whole) : "-";
}

std::string describe_construct(const RegionsReport& report, size_t index) {
  const Construct& construct = report.constructs[index];
  std::string text = construct_number(index);
  text += " " + describe_place(construct.place);
  if (!construct.name.empty()) text += " (" + printable(construct.name) + ")";
  return text + " " + construct.type;
}

TextColumn number_column(std::string heading) {
  return {std::move(heading), true, nullptr, 2, {}, SIZE_MAX};
}

std::string shorten(const std::string& text, size_t width) {
  return elide_middle(text, width);
}

TextColumn name_column(std::string heading) {
  return {std::move(heading), false, shorten, 2, {}, SIZE_MAX};
}

std::string format_count(const RegionsReport::Counter& counter, double value) {
  const char* const mark = counter.provenance == Provenance::counted ? "" : "~";
  return mark + format_thousands(static_cast<uint64_t>(std::llround(value)));
}

/// Headings of what was counted: "L1-dcache-loads", and "waiting" of the first.
std::vector<TextColumn> counter_columns(const RegionsReport& report, size_t counters) {
  std::vector<TextColumn> columns;
  for (size_t i = 0; i < counters; ++i) {
    columns.push_back(number_column(report.counters[i].name));
  }
  if (!columns.empty()) columns.push_back(number_column("(waiting)"));
  return columns;
}

std::vector<std::string> counter_cells(const RegionsReport& report, const RegionCounts& counts,
                                       size_t counters) {
  std::vector<std::string> cells;
  for (size_t i = 0; i < counters; ++i) {
    cells.push_back(format_count(report.counters[i], counts.inside[i]));
  }
  if (!cells.empty()) cells.push_back(format_count(report.counters[0], counts.waiting[0]));
  return cells;
}

/// How many counters fit beside each other, the first ones; one at least, if there are any.
size_t count_fitting(const RegionsReport& report, size_t room) {
  constexpr size_t kGap = 2;
  const auto width_of = [&](size_t counter, auto value_of) {
    size_t width = report.counters[counter].name.size();
    for (const CallPath& path : report.call_paths) {
      width = std::max(width, format_count(report.counters[counter], value_of(path)).size());
    }
    for (const Construct& construct : report.constructs) {
      width = std::max(width, format_count(report.counters[counter], value_of(construct)).size());
    }
    return width + kGap;
  };
  if (report.counters.empty()) return 0;
  size_t used = std::max(std::string_view("(waiting)").size() + kGap,
                         width_of(0, [](const auto& row) { return row.counts.waiting[0]; }));
  size_t fitting = 0;
  for (; fitting < report.counters.size(); ++fitting) {
    used += width_of(fitting, [&](const auto& row) { return row.counts.inside[fitting]; });
    if (used > room) break;
  }
  return std::max<size_t>(fitting, 1);
}

/// Counters beside the flat profile of a construct. Beside times stand only those that were asked
/// for when it was recorded: all of them.
size_t count_flat_counters(const RegionsReport& report, const TextStyle& style) {
  constexpr size_t kThreadAndExecutions = 16;
  return report.has_times
             ? report.counters.size()
             : count_fitting(report, style.width - std::min(style.width, kThreadAndExecutions));
}

/// The events that no table of this width shows; "" if there are none.
std::string print_left_out(const RegionsReport& report, const TextStyle& style) {
  std::string names;
  for (size_t i = count_flat_counters(report, style); i < report.counters.size(); ++i) {
    names += (names.empty() ? "" : ", ") + report.counters[i].name;
  }
  if (names.empty()) return "";
  return print_labelled("Note", "counted, too: " + names + " (--counter NAME, --format csv)",
                        style);
}

/// "1 thread", "2 threads".
std::string numbered(size_t number, const char* word) {
  return fmt::format("{} {}{}", number, word, number == 1 ? "" : "s");
}

/// Where regions have counts and no times: how much of what ran was in them.
std::string print_counted_summary(const RegionsReport& report, const TextStyle& style) {
  if (report.counters.empty()) return "";
  const RegionsReport::Counter& counter = report.counters.front();
  const double whole = report.program_counts.inside[0];
  const double inside = report.region_counts.inside[0];
  const double waiting = report.region_counts.waiting[0];
  return print_labelled(
      "counts",
      fmt::format("{} {}: {} % in constructs, {} % waiting there, {} % outside; {}",
                  format_count(counter, whole), counter.name, percent(inside, whole),
                  percent(waiting, whole), percent(whole - inside - waiting, whole),
                  numbered(report.threads.size(), "thread")),
      style);
}

/// The summary: how much of the run is parallel, and what is lost in it.
std::string print_summary(const RegionsReport& report, const TextStyle& style) {
  const double whole_ns = report.program_wall_ns * static_cast<double>(report.most_threads);
  std::string text = fmt::format(
      "parallel {} of {} ({} %: coverage)   {}   {}\n", format_duration_ns(report.parallel_wall_ns),
      format_duration_ns(report.program_wall_ns),
      percent(report.parallel_wall_ns, report.program_wall_ns),
      numbered(report.regions.size(), "region"), numbered(report.threads.size(), "thread"));
  if (report.most_threads == 0) return text;
  text += print_labelled(
      "lost",
      fmt::format("{} % of all threads' time: synchronisation {}, imbalance {}, limited "
                  "parallelism {}, thread management {}",
                  percent(report.program.sum_ns(), whole_ns),
                  percent(report.program.synchronization_ns, whole_ns),
                  percent(report.program.imbalance_ns, whole_ns),
                  percent(report.program.limited_ns, whole_ns),
                  percent(report.program.management_ns, whole_ns)),
      style);
  return text;
}

std::string print_overheads(const RegionsReport& report, const TextStyle& style) {
  if (report.regions.empty()) return "";
  double largest_ns = 0;
  for (const RegionOverheads& region : report.regions)
    largest_ns = std::max(largest_ns, region.wall_ns);
  const TimeUnit unit = choose_unit(largest_ns);
  std::vector<TextColumn> columns;
  columns.push_back(number_column(std::string("wall ") + unit.word));
  for (const char* heading : {"execs", "thr", "sync%", "imbal%", "limit%", "manag%", "prog%"})
    columns.push_back(number_column(heading));
  columns.push_back(name_column("parallel region"));
  columns.front().gap = 0;
  const double program_ns = report.program_wall_ns * static_cast<double>(report.most_threads);
  for (const RegionOverheads& region : report.regions) {
    const Overheads& lost = region.overheads;
    const std::string cells[] = {unit.format(region.wall_ns),
                                 fmt::format("{}", region.executions),
                                 fmt::format("{}", region.threads),
                                 percent(lost.synchronization_ns, region.whole_ns),
                                 percent(lost.imbalance_ns, region.whole_ns),
                                 percent(lost.limited_ns, region.whole_ns),
                                 percent(lost.management_ns, region.whole_ns),
                                 percent(lost.sum_ns(), program_ns),
                                 construct_number(region.construct) + " " +
                                     describe_place(report.constructs[region.construct].place)};
    for (size_t i = 0; i < columns.size(); ++i) columns[i].cells.push_back(cells[i]);
  }
  return "Overheads, % of the region's time on all its threads; prog%: of the program's\n\n" +
         print_table(std::move(columns), style.width) + "\n";
}

/// They stand before the numbers that they weaken.
std::string print_remarks(const RegionsReport& report, const TextStyle& style) {
  std::string text;
  for (const std::string& remark : report.remarks) text += print_labelled("Note", remark, style);
  return text.empty() ? text : text + "\n";
}

std::string print_findings(const RegionsReport& report, const TextStyle& style) {
  if (report.findings.empty()) return "";
  std::string text =
      "What to change                              waits (severity)   saves at most\n";
  const size_t shown = std::min(report.findings.size(), kMostFindings);
  for (size_t i = 0; i < shown; ++i) {
    const Finding& finding = report.findings[i];
    const std::string name = describe_construct(report, finding.construct);
    text += fmt::format("{:<43} {:>9} ({:.2f})   {:>9} {:>5} %\n", elide_middle(name, 43),
                        format_duration_ns(finding.waiting_ns), finding.severity,
                        format_duration_ns(finding.at_most_ns),
                        percent(finding.at_most_ns, report.program_wall_ns));
    text += print_labelled("", finding.property + ": " + finding.advice, style);
  }
  if (report.findings.size() > shown) {
    text += fmt::format("and {} that save less (--format json has them)\n",
                        report.findings.size() - shown);
  }
  return text + "\n";
}

std::string print_flat(const RegionsReport& report, size_t index, const TextStyle& style) {
  const Construct& construct = report.constructs[index];
  const double largest_ns = construct.sum.whole_ns();
  const TimeUnit unit = choose_unit(largest_ns);
  std::vector<TextColumn> columns;
  columns.push_back(number_column("TID"));
  columns.front().gap = 0;
  if (report.has_times) columns.push_back(number_column("execT " + std::string(unit.word)));
  columns.push_back(number_column("execC"));
  const std::vector<TimeColumn> times =
      report.has_times ? columns_of(construct.kind) : std::vector<TimeColumn>();
  for (const TimeColumn& column : times) columns.push_back(number_column(column.heading));
  const bool is_unfinished = construct.sum.unfinished_ns > 0;
  if (is_unfinished) columns.push_back(number_column("unfinished"));
  const char* pieces = pieces_of(construct.kind);
  if (pieces != nullptr) columns.push_back(number_column(pieces));
  const size_t counters = count_flat_counters(report, style);
  for (TextColumn& column : counter_columns(report, counters)) {
    columns.push_back(std::move(column));
  }
  const auto add_row = [&](const std::string& label, const RegionTimes& row,
                           const RegionCounts& counts) {
    size_t at = 0;
    columns[at++].cells.push_back(label);
    if (report.has_times) columns[at++].cells.push_back(unit.format(row.whole_ns()));
    columns[at++].cells.push_back(format_thousands(row.executions));
    for (const TimeColumn& column : times)
      columns[at++].cells.push_back(unit.format(row.*column.time));
    if (is_unfinished) columns[at++].cells.push_back(unit.format(row.unfinished_ns));
    if (pieces != nullptr) columns[at++].cells.push_back(format_thousands(row.pieces));
    for (std::string& cell : counter_cells(report, counts, counters)) {
      columns[at++].cells.push_back(std::move(cell));
    }
  };
  for (const Construct::Thread& one : construct.threads)
    add_row(report.threads[one.thread].label, one.times, one.counts);
  add_row("SUM", construct.sum, construct.counts);
  return elide_middle(describe_construct(report, index), style.width) + "\n" +
         print_table(std::move(columns), style.width) + "\n";
}

/// The call graph of what was counted: of the first counter what is in a construct itself.
std::string print_counted_call_graph(const RegionsReport& report, const TextStyle& style) {
  if (report.counters.empty()) return "";
  std::vector<TextColumn> columns{number_column("execC")};
  columns.front().gap = 0;
  constexpr size_t kExecutionsAndName = 10 + 28;
  const size_t counters =
      count_fitting(report, style.width - std::min(style.width, kExecutionsAndName));
  for (TextColumn& column : counter_columns(report, counters)) {
    columns.push_back(std::move(column));
  }
  columns.push_back(name_column("construct"));
  for (const CallPath& path : report.call_paths) {
    columns[0].cells.push_back(format_thousands(path.sum.executions));
    size_t at = 1;
    for (std::string& cell : counter_cells(report, path.counts, counters)) {
      columns[at++].cells.push_back(std::move(cell));
    }
    columns[at].cells.push_back(std::string(2 * std::min<size_t>(path.depth, 12), ' ') +
                                describe_construct(report, path.construct));
  }
  return "Call graph of constructs, summed over threads; with the constructs inside\n\n" +
         print_table(std::move(columns), style.width) + "\n";
}

std::string print_call_graph(const RegionsReport& report, const TextStyle& style) {
  double whole_ns = 0;
  for (const CallPath& path : report.call_paths) whole_ns += path.exclusive_ns;
  double largest_ns = 0;
  for (const CallPath& path : report.call_paths)
    largest_ns = std::max(largest_ns, path.sum.whole_ns());
  const TimeUnit unit = choose_unit(largest_ns);
  std::vector<TextColumn> columns;
  columns.push_back(number_column("incl " + std::string(unit.word)));
  columns.push_back(number_column("excl " + std::string(unit.word)));
  columns.push_back(number_column("excl%"));
  columns.push_back(number_column("execC"));
  columns.push_back(name_column("construct"));
  columns.front().gap = 0;
  for (const CallPath& path : report.call_paths) {
    columns[0].cells.push_back(unit.format(path.sum.whole_ns()));
    columns[1].cells.push_back(unit.format(path.exclusive_ns));
    columns[2].cells.push_back(percent(path.exclusive_ns, whole_ns));
    columns[3].cells.push_back(format_thousands(path.sum.executions));
    columns[4].cells.push_back(std::string(2 * std::min<size_t>(path.depth, 12), ' ') +
                               describe_construct(report, path.construct));
  }
  return "Call graph of constructs, summed over threads\n\n" +
         print_table(std::move(columns), style.width) + "\n";
}

}  // namespace

std::string construct_number(size_t construct) {
  return fmt::format("R{:05}", construct + 1);
}

std::string describe_place(const RegionPlace& place) {
  if (place.lines == LinesAre::unknown) {
    return place.function.empty() ? "[unknown]" : printable(place.function);
  }
  const std::string file(base_name(place.file));
  if (place.lines == LinesAre::function)
    return fmt::format("{} (in {})", printable(file), printable(place.function));
  if (place.last_line > place.first_line)
    return fmt::format("{} ({}-{})", printable(file), place.first_line, place.last_line);
  return fmt::format("{} ({})", printable(file), place.first_line);
}

std::vector<TimeColumn> columns_of(Kind kind) {
  constexpr TimeColumn kEnter{"enterT", &RegionTimes::enter_ns};
  constexpr TimeColumn kBody{"bodyT", &RegionTimes::body_ns};
  constexpr TimeColumn kExit{"exitT", &RegionTimes::exit_ns};
  constexpr TimeColumn kBarrier{"exitBarT", &RegionTimes::exit_barrier_ns};
  switch (kind) {
    case Kind::critical:
    case Kind::atomic:
    case Kind::ordered:
    case Kind::lock:
      return {kBody, kEnter, kExit};
    case Kind::parallel:
      return {kBody, kEnter, kExit, kBarrier};
    case Kind::loop:
    case Kind::sections:
    case Kind::single:
    case Kind::workshare:
    case Kind::distribute:
    case Kind::scope:
    case Kind::taskloop:
      return {kBody, kBarrier};
    case Kind::barrier:
    case Kind::implicit_barrier:
    case Kind::taskwait:
    case Kind::taskgroup:
      return {{"waitT", &RegionTimes::wait_ns}};
    case Kind::task:
      return {kBody, {"createT", &RegionTimes::enter_ns}};
    case Kind::teams:
    case Kind::master:
    case Kind::user:
    case Kind::function:
      return {kBody};
    case Kind::unknown:
      break;
  }
  return {kBody, kEnter, kExit, kBarrier, {"waitT", &RegionTimes::wait_ns}};
}

const char* pieces_of(Kind kind) {
  if (kind == Kind::loop) return "chunks";
  if (kind == Kind::sections) return "sections";
  if (kind == Kind::single) return "singles";
  return kind == Kind::task ? "created" : nullptr;
}

std::string print_regions_text(const Profile& profile, const RegionsReport& report,
                               const RegionsPrint& options, const TextStyle& style) {
  std::string text = print_run(profile, style);
  if (report.has_times) {
    text += print_summary(report, style) + "\n" + print_remarks(report, style);
    text += print_findings(report, style);
    text += print_overheads(report, style);
    text += print_call_graph(report, style);
  } else {
    text += print_counted_summary(report, style) + "\n" + print_remarks(report, style);
    text += print_counted_call_graph(report, style);
  }

  std::vector<size_t> order(report.constructs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  size_t left_out = 0;
  if (options.limit != 0 && order.size() > options.limit) {
    const auto weight = [&](size_t index) {
      const Construct& construct = report.constructs[index];
      if (report.has_times) return construct.sum.whole_ns();
      return report.counters.empty() ? 0.0 : construct.counts.inside[0];
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return weight(a) > weight(b); });
    left_out = order.size() - options.limit;
    order.resize(options.limit);
    std::sort(order.begin(), order.end());
  }
  text += wrap(report.has_times
                   ? "Flat profile, by thread: execT is the sum of the times beside it"
                   : "Flat profile, by thread: what each counts with the constructs inside it; "
                     "(waiting): of the first, what is spent waiting and in the runtime, which is "
                     "in no other",
               style.width, 0) +
          "\n\n";
  for (const size_t construct : order) text += print_flat(report, construct, style);
  if (left_out > 0) text += fmt::format("{} more constructs: --limit 0\n\n", left_out);
  text += print_left_out(report, style);
  text += print_ledger(profile.ledger, style);
  text += print_next(with_file("culprit report --by thread,function", style),
                     "what the threads run meanwhile", style);
  return text;
}

std::string print_regions(const Profile& profile, const RegionsReport& report,
                          const RegionsPrint& options, Format format, const TextStyle& style) {
  if (format == Format::json) return print_regions_json(profile, report);
  if (format == Format::csv) return print_regions_csv(report);
  return print_regions_text(profile, report, options, style);
}

}  // namespace culprit
