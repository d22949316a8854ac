#include "top/top_screen.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/names.h"
#include "base/text.h"

namespace culprit {

namespace {

constexpr const char* kKeys =
    "enter: in  esc: back  p: processes  f: functions  space: pause  h: help  q: quit";

constexpr const char* kHelp[] = {
    "",
    "  up down pgup pgdn home end   choose a row",
    "  enter, right                 into it: a process's functions, a function's instructions",
    "  esc, left, backspace         back",
    "  p  f                         all processes; all functions of all processes",
    "  s                            sorted by what was sampled, or by name (code: by address)",
    "  w                            of the last 10 s, 60 s, everything, 2 s",
    "  space                        stop redrawing; sampling goes on",
    "  q                            quit; a program that was started here is ended",
    "",
    "  CPU %   how much of one CPU it used; of other events: how many a second",
    "  95 %    where the true value lies with 95 % confidence, by the number of samples",
    "  share   of everything that was sampled",
    "",
    "  any key: go on"};

std::string cut(const std::string& text, size_t width) {
  if (count_columns(text) <= width) return text;
  return printable(text.substr(0, width));
}

std::string describe_time(const TopTable& table, const TopHeader& header) {
  const char* const what = header.is_all ? "since the start" : "last";
  return fmt::format("{} {:.3g} s", what, table.seconds);
}

std::string title_of(const TopTable& table, const TopHeader& header, bool is_paused) {
  std::string text = fmt::format("culprit top  {}  {}  {} samples", printable(header.of),
                                 describe_time(table, header), format_thousands(table.samples));
  if (header.lost != 0) text += fmt::format("  {} lost", format_thousands(header.lost));
  if (table.is_time) {
    text +=
        fmt::format("  {:.1f} % of {} CPU{}", table.rate, header.cpus, header.cpus == 1 ? "" : "s");
  } else {
    text += fmt::format("  {}: {}/s", printable(table.event), format_si(table.rate));
  }
  if (header.has_ended) text += "  ENDED";
  if (is_paused) text += "  PAUSED";
  return text;
}

/// "of make (4711): parse_line in libfoo.so"
std::string describe_level(const TopQuestion& question) {
  std::string text;
  if (question.process) {
    text += fmt::format("of {} ({})", printable(question.process->name), question.process->pid);
  }
  if (question.function) {
    text += fmt::format("{}{} in {}", text.empty() ? "" : ": ",
                        pretty_name(printable(question.function->name)),
                        printable(base_name(question.function->module)));
  }
  if (!text.empty()) return text;
  return question.level == TopLevel::functions ? "functions of all processes" : "processes";
}

std::string heading_of(const TopTable& table) {
  const char* const names[] = {"process", "function", "instruction"};
  return fmt::format("{:>6} {:>15} {:>7} {:>8}  {}", table.is_time ? "CPU %" : "per s", "95 %",
                     "share", "samples", names[static_cast<size_t>(table.question.level)]);
}

std::string format_rate(double rate, bool is_time) {
  return is_time ? fmt::format("{:.1f}", rate) : format_si(rate);
}

std::string name_of(const TopRow& row, TopLevel level, size_t width) {
  switch (level) {
    case TopLevel::processes:
      return cut(fmt::format("{} ({})", printable(row.process.name), row.process.pid), width);
    case TopLevel::functions: {
      const std::string module = "  " + printable(base_name(row.function.module));
      const size_t room = width > count_columns(module) + 8 ? width - count_columns(module) : width;
      const std::string name = row.function.name.empty()
                                   ? std::string("[unknown]")
                                   : pretty_name(printable(row.function.name));
      return cut(shorten_name(name, room) + module, width);
    }
    case TopLevel::instructions: {
      const std::string code = fmt::format("{:x}  {}", row.address, printable(row.text));
      if (row.place.empty() || count_columns(code) + 2 >= width) return cut(code, width);
      return cut(pad_right(code, std::min<size_t>(width / 2, 52)) + "  " + printable(row.place),
                 width);
    }
  }
  return "";
}

std::string line_of(const TopRow& row, const TopTable& table, size_t width) {
  std::string numbers(39, ' ');
  if (row.samples != 0) {
    numbers = fmt::format("{:>6} {:>15} {:>7} {:>8}", format_rate(row.rate, table.is_time),
                          fmt::format("{} - {}", format_rate(row.rate95.low, table.is_time),
                                      format_rate(row.rate95.high, table.is_time)),
                          fmt::format("{:.1f} %", 100 * row.share), format_thousands(row.samples));
  }
  const size_t used = count_columns(numbers) + 2;
  return cut(
      numbers + "  " + (width > used ? name_of(row, table.question.level, width - used) : ""),
      width);
}

}  // namespace

std::vector<ScreenLine> make_top_screen(const TopTable& table, const TopHeader& header,
                                        const TopView& view, size_t width, size_t height) {
  using Kind = ScreenLine::Kind;
  std::vector<ScreenLine> lines;
  lines.push_back({Kind::title, cut(title_of(table, header, view.is_paused), width)});
  if (view.shows_help) {
    for (const char* const line : kHelp) lines.push_back({Kind::remark, cut(line, width)});
  } else {
    lines.push_back({Kind::remark, cut(describe_level(table.question), width)});
    lines.push_back({Kind::heading, cut(heading_of(table), width)});
    if (!table.remark.empty()) {
      lines.push_back({Kind::remark, cut("  " + printable(table.remark), width)});
    }
    const size_t rows = height > kTopOtherLines ? height - kTopOtherLines : 0;
    for (size_t i = view.first; i < table.rows.size() && i < view.first + rows; ++i) {
      lines.push_back({Kind::row, line_of(table.rows[i], table, width), i == view.selected});
    }
  }
  if (lines.size() >= height) lines.resize(height > 0 ? height - 1 : 0);
  while (lines.size() + 1 < height) lines.push_back({Kind::remark, ""});
  if (height > 1) lines.push_back({Kind::heading, cut(kKeys, width)});
  return lines;
}

std::string print_top_batch(const TopTable& table, const TopHeader& header, size_t width,
                            size_t rows) {
  std::string text = title_of(table, header, false) + "\n" + heading_of(table) + "\n";
  if (!table.remark.empty()) text += "  " + printable(table.remark) + "\n";
  size_t shown = 0;
  for (const TopRow& row : table.rows) {
    if (shown++ == rows) break;
    text += line_of(row, table, width) + "\n";
  }
  return text;
}

}  // namespace culprit
