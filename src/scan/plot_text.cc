// Plots for terminals: a letter for each series in a grid of characters.

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "scan/axis.h"
#include "scan/print_answer.h"

#include "base/names.h"
#include "base/text.h"
#include "print/header_text.h"

namespace culprit::scan {
namespace {

constexpr size_t kRows = 18;
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Where several series meet a digit says how many.
void put(std::vector<std::string>& grid, std::vector<std::vector<int>>& count, size_t row,
         size_t column, char letter) {
  int& here = count[row][column];
  ++here;
  grid[row][column] = here == 1 ? letter : here < 10 ? static_cast<char>('0' + here) : '#';
}

std::string print_panel(const Panel& panel, const PlotOptions& options, const TextStyle& style) {
  const Axes axes(panel, options.log_x, options.log_y, 8, 5);
  size_t label = 1;
  for (const Tick& tick : axes.y.ticks()) label = std::max(label, tick.text.size());
  const size_t columns = std::max<size_t>(20, style.width - label - 4);
  std::vector<std::string> grid(kRows, std::string(columns, ' '));
  std::vector<std::vector<int>> count(kRows, std::vector<int>(columns));
  const auto row_of = [&](double place) {
    return kRows - 1 - static_cast<size_t>(std::lround(std::clamp(place, 0.0, 1.0) * (kRows - 1)));
  };
  const auto column_of = [&](double place) {
    return static_cast<size_t>(
        std::lround(std::clamp(place, 0.0, 1.0) * static_cast<double>(columns - 1)));
  };
  for (size_t s = 0; s < panel.series.size(); ++s) {
    const std::vector<Mark>& marks = panel.series[s].marks;
    for (size_t i = 0; i < marks.size(); ++i) {
      if (!marks[i].value) continue;
      put(grid, count, row_of(axes.y.place(marks[i].value->value)),
          column_of(axes.x_place(marks[i], i, marks.size())), kLetters[s % kLetters.size()]);
    }
  }
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

std::string print_legend(const Panel& panel, const TextStyle& style) {
  std::string words;
  for (size_t s = 0; s < panel.series.size(); ++s) {
    words += fmt::format("{}{} {}", s == 0 ? "" : "   ", kLetters[s % kLetters.size()],
                         printable(panel.series[s].name));
  }
  return " " + wrap(words, style.width - 1, 1) + "\n";
}

}  // namespace

std::string print_plot_text(const Answer& answer, const PlotOptions& options,
                            const TextStyle& style) {
  std::string out =
      fmt::format("{}{}{}   over {}\n", answer.is_modelled ? "?" : "=", answer.title,
                  answer.base.empty() ? "" : ", ratio to " + answer.base, answer.over);
  for (const Panel& panel : answer.panels) {
    out += '\n';
    if (!panel.title.empty()) out += printable(panel.title) + '\n';
    out += print_panel(panel, options, style) + print_legend(panel, style);
  }
  if (!answer.failures.empty()) {
    out += print_labelled(
        "Failed",
        fmt::format("{} cells have no value: culprit scan status", answer.failures.size()), style);
  }
  return out;
}

}  // namespace culprit::scan
