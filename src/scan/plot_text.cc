// Plots for terminals: a letter for each series in a grid of characters.

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

#include "base/names.h"
#include "base/text.h"
#include "print/event_display.h"
#include "print/header_text.h"
#include "scan/axis.h"
#include "scan/print_answer.h"

namespace culprit::scan {
namespace {

constexpr size_t kRows = 18;
constexpr size_t kMargin = 3;  // columns at both sides
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// What stands at one place of the grid: series whose points fall together.
using Meeting = std::map<std::pair<size_t, size_t>, std::string>;

/// Letters side by side about their column, as many as the next column leaves room for; '+' at
/// their end stands for more.
void put_meetings(const Meeting& meetings, size_t room, std::vector<std::string>& grid) {
  for (const auto& [place, letters] : meetings) {
    const auto& [row, column] = place;
    std::string text = letters;
    if (text.size() > room) text = text.substr(0, room - 1) + '+';
    std::string& line = grid[row];
    size_t at = column - std::min(column, (text.size() - 1) / 2);
    at = std::min(at, line.size() - text.size());
    line.replace(at, text.size(), text);
  }
}

/// Series with the same points everywhere are one curve: they share the letter of the first.
std::vector<size_t> find_curves(const Panel& panel) {
  std::vector<size_t> same_as;
  for (size_t s = 0; s < panel.series.size(); ++s) {
    size_t first = 0;
    for (; first < s; ++first) {
      if (panel.series[first].is_expected != panel.series[s].is_expected) continue;
      const std::vector<Mark>& a = panel.series[first].marks;
      const std::vector<Mark>& b = panel.series[s].marks;
      if (std::equal(a.begin(), a.end(), b.begin(), b.end(),
                     [](const Mark& x, const Mark& y) { return x.value == y.value; })) {
        break;
      }
    }
    same_as.push_back(first);
  }
  return same_as;
}

/// What draws each series: letters for curves, '*' for what was expected.
std::string choose_letters(const Panel& panel) {
  const std::vector<size_t> same_as = find_curves(panel);
  std::string letters;
  size_t next = 0;
  for (size_t s = 0; s < same_as.size(); ++s) {
    if (panel.series[s].is_expected) {
      letters += '*';
    } else {
      letters += same_as[s] < s ? letters[same_as[s]] : kLetters[next++ % kLetters.size()];
    }
  }
  return letters;
}

/// Whether several points share a place with too little room comes back in `is_crowded`.
std::string print_panel(const Panel& panel, bool& is_crowded, const PlotOptions& options,
                        const TextStyle& style) {
  const Axes axes(panel, options.log_x, options.log_y, 8, 5);
  size_t label = 1;
  for (const Tick& tick : axes.y.ticks()) label = std::max(label, tick.text.size());
  const size_t columns = std::max<size_t>(20, style.width - label - 4);
  std::vector<std::string> grid(kRows, std::string(columns, ' '));
  const auto row_of = [&](double place) {
    return kRows - 1 - static_cast<size_t>(std::lround(std::clamp(place, 0.0, 1.0) * (kRows - 1)));
  };
  // Letters about the outermost points need room, too.
  const auto column_of = [&](double place) {
    return kMargin +
           static_cast<size_t>(std::lround(std::clamp(place, 0.0, 1.0) *
                                           static_cast<double>(columns - 1 - 2 * kMargin)));
  };
  const std::string letters = choose_letters(panel);
  Meeting meetings;
  std::set<size_t> used;
  for (size_t s = 0; s < panel.series.size(); ++s) {
    const std::vector<Mark>& marks = panel.series[s].marks;
    for (size_t i = 0; i < marks.size(); ++i) {
      const size_t column = column_of(axes.x_place(marks[i], i, marks.size()));
      used.insert(column);
      if (!marks[i].value) continue;
      std::string& here = meetings[{row_of(axes.y.place(marks[i].value->value)), column}];
      if (here.find(letters[s]) == std::string::npos) here += letters[s];
    }
  }
  size_t room = columns;
  for (auto at = used.begin(); at != used.end() && std::next(at) != used.end(); ++at) {
    room = std::min(room, *std::next(at) - *at);
  }
  room = std::clamp<size_t>(room, 2, 2 * kMargin + 2) - 1;
  for (const auto& [place, here] : meetings) is_crowded = is_crowded || here.size() > room;
  put_meetings(meetings, room, grid);
  std::vector<std::string> labels(kRows);
  for (const Tick& tick : axes.y.ticks()) labels[row_of(tick.at)] = tick.text;
  std::string out;
  for (size_t row = 0; row < kRows; ++row) {
    const std::string line =
        fmt::format(" {:>{}} {}{}", labels[row], label, labels[row].empty() ? '|' : '+', grid[row]);
    out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  out += std::string(label + 2, ' ') + '+' + std::string(columns, '-') + '\n';
  std::string ticks(label + 3 + columns, ' ');
  size_t free_from = 0;
  for (const Tick& tick : axes.x.ticks()) {
    const std::string text = elide_middle(printable(tick.text), 24);
    const size_t middle = label + 3 + column_of(tick.at);
    const size_t at =
        std::min(middle - std::min(middle, text.size() / 2), ticks.size() - text.size());
    if (at < free_from || text.size() > ticks.size()) continue;
    ticks.replace(at, text.size(), text);
    free_from = at + text.size() + 1;
  }
  out += ticks.substr(0, ticks.find_last_not_of(' ') + 1) + '\n';
  return out;
}

/// A curve's letter and name stay in one line, if they fit into one.
std::string print_legend(const Panel& panel, const TextStyle& style) {
  const std::string letters = choose_letters(panel);
  std::string out;
  std::string line;
  for (size_t s = 0; s < panel.series.size(); ++s) {
    if (letters.find(letters[s]) < s) continue;
    std::string entry = std::string(1, letters[s]) + " ";
    for (size_t other = s; other < panel.series.size(); ++other) {
      if (letters[other] != letters[s]) continue;
      entry += (other == s ? "" : ", ") + printable(panel.series[other].name);
    }
    if (!line.empty() && count_columns(line) + 3 + count_columns(entry) >= style.width) {
      out += " " + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : "   ") + entry;
  }
  return out + " " + line + "\n";
}

}  // namespace

std::string print_plot_text(const Answer& answer, const PlotOptions& options,
                            const TextStyle& style) {
  std::string out =
      fmt::format("{}{}{}   over {}\n", provenance_mark(answer.provenance), answer.title,
                  answer.base.empty() ? "" : ", ratio to " + answer.base, answer.over);
  bool is_crowded = false;
  for (const Panel& panel : answer.panels) {
    out += '\n';
    if (!panel.title.empty()) out += printable(panel.title) + '\n';
    out += print_panel(panel, is_crowded, options, style) + print_legend(panel, style);
  }
  if (is_crowded) out += " + more curves than there is room for: --setup, --width, --form csv\n";
  if (const std::string peak = describe_peak(answer); !peak.empty()) {
    out += print_labelled("Peak", peak, style);
  }
  if (!answer.failures.empty()) {
    out += print_labelled("Failed",
                          fmt::format("of {} there is no value: culprit scan status",
                                      count_cells(answer.failures.size())),
                          style);
  }
  return out;
}

}  // namespace culprit::scan
