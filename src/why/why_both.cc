// Two trees side by side, levels 1 to 3:
//
//      before            after
//      cycles    share   cycles    share   after / before
//      4.07 G  100.0 %   1.20 G  100.0 %            0.29   unhalted
//
// Cycles of different CPUs are of different lengths: time stands below them. It is what was
// measured where both profiles have that; else a simulated run's time is that of its model's
// cycles.

#include <fmt/format.h>

#include "base/names.h"
#include "base/text.h"
#include "print/event_display.h"
#include "print/header_text.h"
#include "print/json_parts.h"
#include "print/text_table.h"
#include "why/why_parts.h"

namespace culprit {
namespace {

/// Levels 1 to 3 of both, in the order of the tree.
struct Pair {
  const CostNode* a;
  const CostNode* b;
  size_t depth;
};

std::vector<Pair> pair_up(const CostTree& a, const CostTree& b) {
  std::vector<Pair> pairs = {{&a.unhalted, &b.unhalted, 0}};
  for (auto i = static_cast<uint8_t>(CostBranch::stalled);
       i < static_cast<uint8_t>(CostBranch::general); ++i) {
    const auto branch = static_cast<CostBranch>(i);
    if (branch == CostBranch::unstalled) continue;
    if (branch == CostBranch::port_saturation) {
      pairs.push_back({a.find(CostBranch::unstalled), b.find(CostBranch::unstalled), 1});
    }
    pairs.push_back(
        {a.find(branch), b.find(branch), branch == CostBranch::stalled ? size_t{1} : 2});
  }
  return pairs;
}

std::string share_of(const CostNode& node, const CostTree& tree) {
  const std::optional<Estimate>& whole = tree.unhalted.cycles;
  if (!node.cycles || !whole || !(whole->value > 0)) return "-";
  return fmt::format("{:.1f} %", 100 * node.cycles->value / whole->value);
}

std::string format_cycles(const CostNode& node) {
  return node.cycles
             ? fmt::format("{} {}", format_si(node.cycles->value), provenance_mark(node.provenance))
             : "-  ";
}

std::string ratio_of(const CostNode& a, const CostNode& b) {
  if (!a.cycles || !b.cycles || !(a.cycles->value > 0)) return "-";
  return fmt::format("{:.2f}", b.cycles->value / a.cycles->value);
}

/// CPU time of both sides in one way, so that it can be compared.
struct CpuTimes {
  bool are_measured = false;  // else by the cycles of the trees
  std::optional<Estimate> seconds[2];
};

std::optional<Estimate> to_seconds(const WhySide& side, const std::optional<Estimate>& cycles) {
  const ClockCalibration* clock = find_clock(side.profile->machine);
  if (clock == nullptr || !cycles) return std::nullopt;
  return *cycles * (1 / clock->hertz);
}

/// A model's cycles are no time that passed.
std::optional<Estimate> find_measured(const WhySide& side) {
  if (side.why->measured) return side.why->measured->measured;
  return side.cpu->is_simulated ? std::nullopt : side.why->tree.unhalted.cycles;
}

CpuTimes find_cpu_times(const WhySide& a, const WhySide& b) {
  CpuTimes times;
  times.are_measured = find_measured(a) && find_measured(b);
  for (const WhySide* side : {&a, &b}) {
    times.seconds[side == &a ? 0 : 1] = to_seconds(
        *side, times.are_measured ? find_measured(*side) : side->why->tree.unhalted.cycles);
  }
  return times;
}

std::string format_ratio(const CpuTimes& times) {
  if (!times.seconds[0] || !times.seconds[1] || !(times.seconds[0]->value > 0)) return "-";
  const Estimate ratio = divide(*times.seconds[1], *times.seconds[0]);
  std::string text = fmt::format("{:.2f}", ratio.value);
  if (ratio.standard_error > 0) {
    text += fmt::format(" +-{:.2f}", kNormal95 * ratio.standard_error);
  }
  return text;
}

std::string print_text(const WhySide& a, const WhySide& b, const TextStyle& style) {
  std::string text;
  for (const WhySide* side : {&a, &b}) {
    text +=
        wrap(fmt::format("{}: {}", side == &a ? "A" : "B", printable(side->name)), style.width, 3);
    text += "\n" + wrap("   " + describe_template(*side->cpu), style.width, 3) + "\n";
  }
  text += "\n";
  TextColumn columns[] = {{"A cycles", true, nullptr, 2, {}}, {"share", true, nullptr, 2, {}},
                          {"B cycles", true, nullptr, 3, {}}, {"share", true, nullptr, 2, {}},
                          {"B / A", true, nullptr, 3, {}},    {"", false, nullptr, 3, {}}};
  for (const Pair& pair : pair_up(a.why->tree, b.why->tree)) {
    const std::string cells[] = {
        format_cycles(*pair.a),     share_of(*pair.a, a.why->tree),
        format_cycles(*pair.b),     share_of(*pair.b, b.why->tree),
        ratio_of(*pair.a, *pair.b), std::string(2 * pair.depth, ' ') + printable(pair.a->label)};
    for (size_t i = 0; i < std::size(columns); ++i) columns[i].cells.push_back(cells[i]);
  }
  const CpuTimes times = find_cpu_times(a, b);
  if (times.seconds[0] || times.seconds[1]) {
    const auto format = [](const std::optional<Estimate>& value) {
      return (value ? format_duration_ns(value->value * 1e9) : "-") + "  ";
    };
    const std::string cells[] = {
        format(times.seconds[0]),
        "",
        format(times.seconds[1]),
        "",
        format_ratio(times),
        times.are_measured ? "CPU time, measured" : "CPU time of these cycles, not measured"};
    for (size_t i = 0; i < std::size(columns); ++i) columns[i].cells.push_back(cells[i]);
  }
  text += print_table({std::begin(columns), std::end(columns)}, style.width) + "\n";
  for (const WhySide* side : {&a, &b}) {
    for (const std::string& sentence : describe_missing(*side->profile, side->why->tree)) {
      text += print_labelled(side == &a ? "A lacks" : "B lacks", sentence, style);
    }
  }
  return text;
}

Json json_side(const WhySide& side, const std::optional<Estimate>& seconds) {
  return {{"name", printable(side.name)},
          {"machine", json_machine(side.profile->machine)},
          {"template", printable(side.cpu->name)},
          {"seconds", seconds ? Json(seconds->value) : Json()},
          {"seconds_error", seconds ? Json(seconds->standard_error) : Json()}};
}

Json json_amount(const CostNode& node) {
  Json object = {{"state", state_name(node.state)}, {"reason", printable(node.reason)}};
  object["cycles"] = node.cycles ? Json(node.cycles->value) : Json();
  object["error"] = node.cycles ? Json(node.cycles->standard_error) : Json();
  return object;
}

std::string print_json(const WhySide& a, const WhySide& b) {
  Json rows = Json::array();
  for (const Pair& pair : pair_up(a.why->tree, b.why->tree)) {
    rows.push_back({{"branch", std::string(branch_key(pair.a->branch))},
                    {"label", printable(pair.a->label)},
                    {"depth", pair.depth},
                    {"a", json_amount(*pair.a)},
                    {"b", json_amount(*pair.b)}});
  }
  const CpuTimes times = find_cpu_times(a, b);
  return dump({{"schema", "culprit-why-both-1"},
               {"seconds_measured", times.are_measured},
               {"a", json_side(a, times.seconds[0])},
               {"b", json_side(b, times.seconds[1])},
               {"rows", std::move(rows)}});
}

}  // namespace

std::string print_why_both(const WhySide& a, const WhySide& b, Format format,
                           const TextStyle& style) {
  return format == Format::json ? print_json(a, b) : print_text(a, b, style);
}

}  // namespace culprit
