#include "scan/weighed.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "print/text_table.h"
#include "scan/print_answer.h"

namespace culprit::scan {
namespace {

/// The program that a panel is of: its title's first word, or the only one's.
bool is_of(const Panel& panel, const Use& use) {
  return is_wanted(panel.title.substr(0, panel.title.find(',')), {use.program});
}

/// How often what a panel shows is used; 0: no use is of it.
double count_uses(const Panel& panel, const std::vector<Use>& uses) {
  double count = 0;
  for (const Use& use : uses) count += is_of(panel, use) ? use.count : 0;
  return count;
}

}  // namespace

Result<Use> parse_use(const std::string& text) {
  const size_t equals = text.rfind('=');
  Use use{text.substr(0, equals), 0};
  const char* const end = text.data() + text.size();
  const char* const begin = equals == std::string::npos ? end : text.data() + equals + 1;
  const auto [stop, error] = std::from_chars(begin, end, use.count);
  if (use.program.empty() || error != std::errc() || stop != end || !(use.count > 0) ||
      !std::isfinite(use.count)) {
    return Error{fmt::format("'{}' is no use of a program: --use PROGRAM=COUNT, PROGRAM a pattern",
                             printable(text))};
  }
  return use;
}

Result<std::vector<WeighedSeries>> weigh(const Answer& answer, const std::vector<Use>& uses) {
  if (answer.over == "program" || answer.by == "program") {
    return Error{"--use weighs programs against each other: over a size, and by setup"};
  }
  if (!answer.base.empty()) return Error{"ratios have no sum: --use or --base"};
  for (const Use& use : uses) {
    if (std::none_of(answer.panels.begin(), answer.panels.end(),
                     [&](const Panel& panel) { return is_of(panel, use); })) {
      return Error{
          fmt::format("--use: nothing of several programs is called '{}'", printable(use.program))};
    }
  }
  std::vector<WeighedSeries> all;
  for (const Panel& panel : answer.panels) {
    const double count = count_uses(panel, uses);
    if (count == 0) continue;
    for (const Series& series : panel.series) {
      if (series.is_expected) continue;
      auto one = std::find_if(all.begin(), all.end(), [&](const WeighedSeries& known) {
        return known.name == series.name;
      });
      if (one == all.end()) one = all.insert(all.end(), {series.name, {}});
      const double each = count / static_cast<double>(series.marks.size());
      for (const Mark& mark : series.marks) {
        one->is_complete = one->is_complete && mark.value;
        if (mark.value) one->sum = one->sum + *mark.value * each;
      }
    }
  }
  // A setup that one of the programs was not built with has no sum to compare.
  for (WeighedSeries& one : all) {
    for (const Panel& panel : answer.panels) {
      const bool has_it =
          std::any_of(panel.series.begin(), panel.series.end(),
                      [&](const Series& series) { return series.name == one.name; });
      if (count_uses(panel, uses) > 0 && !has_it) one.is_complete = false;
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const WeighedSeries& x, const WeighedSeries& y) {
    return x.is_complete != y.is_complete ? x.is_complete : x.sum.value < y.sum.value;
  });
  for (WeighedSeries& one : all) {
    if (all.front().sum.value > 0) one.ratio = one.sum.value / all.front().sum.value;
  }
  return all;
}

std::string print_weighed(const std::vector<WeighedSeries>& all, const std::string& by,
                          const TextStyle& style) {
  TextColumn sum{"by use", true, nullptr, 1, {}};
  TextColumn ratio{"of the least", true, nullptr, 2, {}};
  TextColumn name{by, false, nullptr, 2, {}};
  for (const WeighedSeries& one : all) {
    sum.cells.push_back(one.is_complete ? format_cost(one.sum) : "-");
    ratio.cells.push_back(one.is_complete ? fmt::format("{:.3f}", one.ratio) : "-");
    name.cells.push_back(printable(one.name));
  }
  return '\n' + print_table({sum, ratio, name}, style.width);
}

}  // namespace culprit::scan
