#include "scan/curves.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

#include "base/text.h"
#include "print/header_text.h"
#include "print/json_parts.h"
#include "print/text_table.h"
#include "scan/explain.h"
#include "scan/print_answer.h"

namespace culprit::scan {
namespace {

constexpr double kSpike = 1.25;

/// Whether two stretches of a curve have the same first cause, of which the same side has more:
/// their sentence is one.
bool is_one_range(const CurveRange& range, const CurveRange& point) {
  return range.is_equal == point.is_equal && range.cause.name == point.cause.name &&
         range.cause.text.substr(0, 1) == point.cause.text.substr(0, 1);
}

std::string tell_cause(const CurveRange& range) {
  if (range.is_equal) return "no difference";
  if (range.cause.name.empty()) return "no kind of instructions stands out";
  return range.cause.text + (range.cause.place.empty() ? "" : "; most at " + range.cause.place);
}

std::string span(const std::vector<Estimate>& values, const CurveRange& range) {
  const std::string first = format_cost(values[range.first]);
  const std::string last = format_cost(values[range.last]);
  return first == last ? first : first + " to " + last;
}

std::string name_range(const CurveExplanation& curves, const CurveRange& range) {
  const std::string first = printable(curves.points[range.first].x);
  return range.first == range.last ? first
                                   : first + " to " + printable(curves.points[range.last].x);
}

/// What lies between the neighbours of a point, on a line.
double between(const CurveExplanation& curves, const std::vector<Estimate>& values, size_t i) {
  const auto number = [&](size_t at) { return std::strtod(curves.points[at].x.c_str(), nullptr); };
  const double width = number(i + 1) - number(i - 1);
  const double part = width > 0 ? (number(i) - number(i - 1)) / width : 0.5;
  return values[i - 1].value + part * (values[i + 1].value - values[i - 1].value);
}

}  // namespace

void explain_curves(const std::vector<Cell>& cells,
                    const std::vector<std::optional<CellCosts>>& costs, CodeIndex& code,
                    CurveExplanation& out) {
  const Profile& profile = code.profile();
  out.event = find_event(profile, "sim:cycles") != SIZE_MAX ? "sim:cycles" : "instructions";
  const size_t event = find_event(profile, out.event);
  if (event == SIZE_MAX) return;
  for (size_t i = 0; i < out.points.size(); ++i) {
    const CurvePoint& point = out.points[i];
    out.values_a.push_back(costs[point.a]->totals[event]);
    out.values_b.push_back(costs[point.b]->totals[event]);
    const Explanation why =
        explain(cells[point.a], *costs[point.a], cells[point.b], *costs[point.b], code);
    CurveRange here{i, i, why.events.empty(), why.causes.empty() ? Cause() : why.causes.front()};
    if (!out.ranges.empty() && is_one_range(out.ranges.back(), here)) {
      CurveRange& range = out.ranges.back();
      range.last = i;
      if (here.cause.weight > range.cause.weight) range.cause = std::move(here.cause);
    } else {
      out.ranges.push_back(std::move(here));
    }
  }
  for (const bool of_a : {true, false}) {
    const std::vector<Estimate>& values = of_a ? out.values_a : out.values_b;
    for (size_t i = 1; i + 1 < values.size(); ++i) {
      const double value = values[i].value;
      const double expected = between(out, values, i);
      if (value <= values[i - 1].value || value <= values[i + 1].value) continue;
      if (value <= kSpike * expected) continue;
      const size_t here = of_a ? out.points[i].a : out.points[i].b;
      const size_t next = of_a ? out.points[i + 1].a : out.points[i + 1].b;
      const Explanation why = explain(cells[here], *costs[here], cells[next], *costs[next], code);
      out.spikes.push_back(
          {of_a, i, value, expected, why.causes.empty() ? Cause() : why.causes.front()});
    }
  }
}

std::string print_curves(const CurveExplanation& curves, const TextStyle& style) {
  std::string out = fmt::format("A  {0} {1}\nB  {0} {2}\n\n", printable(curves.program),
                                printable(curves.a), printable(curves.b));
  TextColumn place{curves.over, false, nullptr, 1, {}};
  TextColumn a{"A", true, nullptr, 2, {}};
  TextColumn b{"B", true, nullptr, 2, {}};
  for (const CurveRange& range : curves.ranges) {
    place.cells.push_back(name_range(curves, range));
    a.cells.push_back(span(curves.values_a, range));
    b.cells.push_back(span(curves.values_b, range));
  }
  out +=
      fmt::format("{}{} of an iteration\n", curves.event == "sim:cycles" ? "?" : "=", curves.event);
  out += print_table({place, a, b}, style.width) + '\n';
  for (size_t i = 0; i < curves.ranges.size(); ++i) {
    const CurveRange& range = curves.ranges[i];
    out += print_labelled(
        i == 0 ? "Why" : "",
        fmt::format("{} {}: {}", curves.over, name_range(curves, range), tell_cause(range)), style);
  }
  for (const Spike& spike : curves.spikes) {
    out += print_labelled(
        "Spike",
        fmt::format(
            "{} at {} {}: {} where its neighbours say {}{}", spike.of_a ? "A" : "B", curves.over,
            printable(curves.points[spike.point].x), format_cost({spike.value, 0}),
            format_cost({spike.between, 0}),
            spike.cause.name.empty()
                ? ""
                : fmt::format("; beside {} {} (as B): {}", curves.over,
                              printable(curves.points[spike.point + 1].x), spike.cause.text)),
        style);
  }
  return out;
}

std::string print_curves_json(const CurveExplanation& curves) {
  const auto cause = [](const Cause& one) {
    return one.name.empty() ? Json(nullptr)
                            : Json{{"name", one.name},
                                   {"text", one.text},
                                   {"place", one.place},
                                   {"weight", one.weight},
                                   {"unit", unit_of(one)}};
  };
  Json points = Json::array();
  for (size_t i = 0; i < curves.points.size(); ++i) {
    points.push_back({{"x", curves.points[i].x},
                      {"a", curves.values_a[i].value},
                      {"b", curves.values_b[i].value}});
  }
  Json ranges = Json::array();
  for (const CurveRange& one : curves.ranges) {
    ranges.push_back({{"first", curves.points[one.first].x},
                      {"last", curves.points[one.last].x},
                      {"equal", one.is_equal},
                      {"cause", cause(one.cause)}});
  }
  Json spikes = Json::array();
  for (const Spike& one : curves.spikes) {
    spikes.push_back({{"setup", one.of_a ? curves.a : curves.b},
                      {"x", curves.points[one.point].x},
                      {"value", one.value},
                      {"between", one.between},
                      {"cause", cause(one.cause)}});
  }
  return dump({{"schema", "culprit-scan-curves-1"},
               {"program", curves.program},
               {"a", curves.a},
               {"b", curves.b},
               {"over", curves.over},
               {"event", curves.event},
               {"points", std::move(points)},
               {"ranges", std::move(ranges)},
               {"spikes", std::move(spikes)}});
}

}  // namespace culprit::scan
