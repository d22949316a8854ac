#include "scan/explain.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <set>

#include "scan/place_table.h"
#include "scan/print_answer.h"

#include "base/names.h"
#include "base/text.h"
#include "print/event_display.h"
#include "print/header_text.h"
#include "print/json_parts.h"
#include "print/text_table.h"

namespace culprit::scan {
namespace {

/// Less is rounding.
constexpr double kNothing = 1e-9;

/// What a division takes more than other instructions do: 13 to 20 cycles on current cores, where
/// others take about a quarter of one (uops.info, Zen 4 and Golden Cove).
constexpr double kDivisionWeight = 20;

/// An inner loop's count, comparison and branch.
constexpr double kLoopOverhead = 3;

/// Only so many of what a compiler said.
constexpr size_t kMostCompilerLines = 6;

/// The costs of both cells by event name, and by line.
class Sides {
 public:
  Sides(const CellCosts& a, const CellCosts& b, CodeIndex& code)
      : profile_(code.profile()),
        totals_{&a.totals, &b.totals},
        lines_{make_place_table(a, code, PlaceLevel::line),
               make_place_table(b, code, PlaceLevel::line)} {}

  [[nodiscard]] double a(std::string_view event) const { return value(0, event); }
  [[nodiscard]] double b(std::string_view event) const { return value(1, event); }
  /// How much more A has.
  [[nodiscard]] double excess(std::string_view event) const { return a(event) - b(event); }
  [[nodiscard]] bool has(std::string_view event) const {
    return find_event(profile_, event) != SIZE_MAX;
  }

  /// The line where an event differs most; "" if there is none.
  [[nodiscard]] std::string worst_line(std::string_view event) const {
    const size_t index = find_event(profile_, event);
    if (index == SIZE_MAX) return "";
    std::map<std::string, double> differences;
    for (int side = 0; side < 2; ++side) {
      for (const PlaceRow& row : lines_[side].rows) {
        differences[row.name] += (side == 0 ? 1 : -1) * row.per_iteration[index].value;
      }
    }
    std::string worst;
    double most = kNothing;
    for (const auto& [line, difference] : differences) {
      if (std::abs(difference) <= most) continue;
      most = std::abs(difference);
      worst = line;
    }
    return worst;
  }

  [[nodiscard]] const PlaceTable& lines(int side) const { return lines_[side]; }
  /// Functions that one side executes each iteration and the other does not.
  [[nodiscard]] std::vector<std::string> only_in(int side) const {
    std::set<std::string> others;
    for (const PlaceRow& row : lines_[1 - side].rows) others.insert(row.function);
    std::vector<std::string> names;
    for (const PlaceRow& row : lines_[side].rows) {
      if (others.contains(row.function)) continue;
      if (std::find(names.begin(), names.end(), row.function) == names.end()) {
        names.push_back(row.function);
      }
    }
    return names;
  }
  [[nodiscard]] double instructions_of(int side, const std::vector<std::string>& functions) const {
    const size_t instructions = find_event(profile_, "instructions");
    double sum = 0;
    for (const PlaceRow& row : lines_[side].rows) {
      if (std::find(functions.begin(), functions.end(), row.function) != functions.end()) {
        sum += row.per_iteration[instructions].value;
      }
    }
    return sum;
  }

 private:
  [[nodiscard]] double value(int side, std::string_view event) const {
    const size_t index = find_event(profile_, event);
    return index == SIZE_MAX ? 0 : (*totals_[side])[index].value;
  }

  const Profile& profile_;
  const std::vector<Estimate>* totals_[2];
  PlaceTable lines_[2];
};

std::string count(double value) {
  return format_cost({value, 0});
}

double fp_instructions(const Sides& sides, int side) {
  double sum = 0;
  for (const char* event : {"fp-scalar", "fp-packed-128", "fp-packed-256", "fp-packed-512"}) {
    sum += side == 0 ? sides.a(event) : sides.b(event);
  }
  return sum;
}

/// Finds causes. Each looks for one thing that compilers do.
class CauseFinder {
 public:
  explicit CauseFinder(const Sides& sides) : sides_(sides) {}

  std::vector<Cause> find() {
    if (find_removed()) return std::move(causes_);
    find_packing();
    find_rolled();
    find_calls();
    find_divisions();
    find_work();
    find_memory();
    find_kinds();
    std::stable_sort(causes_.begin(), causes_.end(),
                     [](const Cause& x, const Cause& y) { return x.weight > y.weight; });
    return std::move(causes_);
  }

 private:
  /// `excess` above 0: A is the one that does more of it. The sentence is of who does more.
  static const char* who(double excess) { return excess > 0 ? "A" : "B"; }
  static const char* other(double excess) { return excess > 0 ? "B" : "A"; }
  static double more(double a, double b) { return std::max(a, b); }
  static double less(double a, double b) { return std::min(a, b); }

  void add(const char* name, double weight, const char* event, std::string text) {
    causes_.push_back({name, std::move(text), sides_.worst_line(event), std::abs(weight)});
  }

  bool find_removed() {
    const auto works = [&](int side) {
      double sum = 0;
      for (const char* event : {"L1-dcache-loads", "L1-dcache-stores", "flops"}) {
        sum += side == 0 ? sides_.a(event) : sides_.b(event);
      }
      return sum > kNothing;
    };
    if (works(0) == works(1)) return false;
    const double excess = works(0) ? 1 : -1;
    add("removed", sides_.excess("instructions"), "instructions",
        fmt::format("{} loads, stores and computes nothing: its kernel was optimised away",
                    other(excess)));
    return true;
  }

  void find_packing() {
    const double flops_a = sides_.a("flops");
    const double flops_b = sides_.b("flops");
    if (!(flops_a > kNothing && flops_b > kNothing)) return;
    const double instructions = fp_instructions(sides_, 0) - fp_instructions(sides_, 1);
    const double weight = std::abs(instructions) + std::abs(sides_.excess("L1-dcache-loads")) +
                          std::abs(sides_.excess("L1-dcache-stores"));
    const double share_a = sides_.a("packed-flops") / flops_a;
    const double share_b = sides_.b("packed-flops") / flops_b;
    if (std::abs(share_a - share_b) > 0.01) {
      const double excess = share_b - share_a;  // the one that is scalar
      add("scalar", weight, "packed-flops",
          fmt::format("{} does {:.0f} % of its floating-point operations in packed instructions, "
                      "{} {:.0f} %",
                      who(excess), 100 * less(share_a, share_b), other(excess),
                      100 * more(share_a, share_b)));
      return;
    }
    const double lanes_a = flops_a / std::max(fp_instructions(sides_, 0), kNothing);
    const double lanes_b = flops_b / std::max(fp_instructions(sides_, 1), kNothing);
    if (std::abs(lanes_a / lanes_b - 1) < 0.05) return;
    const double excess = lanes_b - lanes_a;  // the one that is narrow
    add("narrow", weight, "flops",
        fmt::format("{} does {} operations in a floating-point instruction, {} {}: narrower "
                    "vectors, or multiplications and additions that are not fused",
                    who(excess), count(less(lanes_a, lanes_b)), other(excess),
                    count(more(lanes_a, lanes_b))));
  }

  void find_rolled() {
    const char* const event =
        sides_.has("conditional-branches") ? "conditional-branches" : "branches";
    const double excess = sides_.excess(event);
    if (std::abs(excess) < 0.5) return;
    add("rolled", kLoopOverhead * excess, event,
        fmt::format("{} branches {} times in an iteration, {} {}: inner loops that are not "
                    "unrolled, or checks",
                    who(excess), count(more(sides_.a(event), sides_.b(event))), other(excess),
                    count(less(sides_.a(event), sides_.b(event)))));
  }

  void find_calls() {
    const double excess = sides_.excess("calls");
    if (std::abs(excess) < 0.01) return;
    const int side = excess > 0 ? 0 : 1;
    const std::vector<std::string> functions = sides_.only_in(side);
    std::string names;
    for (size_t i = 0; i < std::min<size_t>(functions.size(), 3); ++i) {
      names += (i == 0 ? " (" : ", ") + shorten_name(printable(functions[i]), 30);
    }
    if (!names.empty()) names += ")";
    // A call and its return, and what the callee sets up.
    const double weight = 2 * std::abs(excess) + sides_.instructions_of(side, functions);
    add("calls", weight, "calls",
        fmt::format("{} calls {} functions more in an iteration{}: not inlined", who(excess),
                    count(std::abs(excess)), names));
  }

  /// Whether there are fewer of it only because each does more at once.
  [[nodiscard]] bool follows_packing(const char* event) const {
    const double ratio = sides_.a(event) / sides_.b(event);
    const double packing = fp_instructions(sides_, 0) / fp_instructions(sides_, 1);
    return std::isfinite(ratio) && std::isfinite(packing) && std::abs(ratio / packing - 1) < 0.05;
  }

  void find_divisions() {
    for (const char* event : {"fp-divisions", "integer-divisions"}) {
      const double excess = sides_.excess(event);
      if (std::abs(excess) < 0.01 || follows_packing(event)) continue;
      add("divisions", kDivisionWeight * excess, event,
          fmt::format("{} divides {} times, {} {} ({})", who(excess),
                      count(more(sides_.a(event), sides_.b(event))), other(excess),
                      count(less(sides_.a(event), sides_.b(event))), event));
    }
  }

  void find_work() {
    const double excess = sides_.excess("flops");
    if (std::abs(excess) < 0.01) return;
    add("work", excess, "flops",
        fmt::format("{} does {} floating-point operations, {} {}", who(excess),
                    count(more(sides_.a("flops"), sides_.b("flops"))), other(excess),
                    count(less(sides_.a("flops"), sides_.b("flops")))));
  }

  /// Bytes, not accesses: packed ones move more at once.
  void find_memory() {
    const double stack = sides_.excess("stack-accesses");
    const double bytes = sides_.excess("load-bytes") + sides_.excess("store-bytes");
    if (std::abs(bytes) < 0.5) return;
    const double accesses = sides_.excess("L1-dcache-loads") + sides_.excess("L1-dcache-stores");
    const auto total = [&](int side) {
      return side == 0 ? sides_.a("load-bytes") + sides_.a("store-bytes")
                       : sides_.b("load-bytes") + sides_.b("store-bytes");
    };
    const bool is_of_stack = stack * bytes > 0 && std::abs(stack) >= 0.5 * std::abs(accesses);
    add(is_of_stack ? "spills" : "reloads", std::max(std::abs(accesses), std::abs(bytes) / 8),
        sides_.excess("load-bytes") * bytes > 0 ? "load-bytes" : "store-bytes",
        fmt::format("{} loads and stores {} bytes, {} {}: {}", who(bytes),
                    count(more(total(0), total(1))), other(bytes), count(less(total(0), total(1))),
                    is_of_stack ? "much of it on the stack, as spilled registers and copies are"
                                : "operands that are not kept in registers"));
  }

  void find_kinds() {
    static constexpr struct {
      const char* event;
      const char* words;
    } kKinds[] = {{"moves", "moves (copies, loads and stores by themselves)"},
                  {"shuffles", "shuffles of vector lanes"},
                  {"conversions", "conversions between types"},
                  {"integer-multiplies", "integer multiplications"},
                  {"simd-integer", "integer and bitwise operations on vectors"},
                  {"nops", "NOPs, which cost next to nothing"}};
    for (const auto& kind : kKinds) {
      const double excess = sides_.excess(kind.event);
      if (std::abs(excess) < 0.01) continue;
      // Moves are a consequence of what is above more often than a cause.
      const bool is_slight = kind.event == std::string_view("moves");
      const bool is_free = kind.event == std::string_view("nops");
      add(kind.event,
          excess * (is_free     ? 0.1
                    : is_slight ? 0.5
                                : 1),
          kind.event,
          fmt::format("{} executes {} {}, {} {}", who(excess),
                      count(more(sides_.a(kind.event), sides_.b(kind.event))), kind.words,
                      other(excess), count(less(sides_.a(kind.event), sides_.b(kind.event)))));
    }
  }

  const Sides& sides_;
  std::vector<Cause> causes_;
};

/// Of what a compiler printed: what it says of its optimisations, without the source that it
/// quotes.
std::string choose_remarks(const std::string& log) {
  std::string out;
  size_t lines = 0;
  for (const std::string_view line : split(log, '\n')) {
    const bool says = line.find("vectorized") != std::string_view::npos ||
                      line.find("optimized:") != std::string_view::npos ||
                      line.find("missed:") != std::string_view::npos ||
                      line.find("remark:") != std::string_view::npos ||
                      line.find("warning:") != std::string_view::npos;
    if (!says || out.find(line) != std::string::npos) continue;
    if (lines++ == kMostCompilerLines) return out + "...\n";
    out += std::string(line) + "\n";
  }
  return out;
}

std::vector<LineDifference> compare_lines(const Sides& sides, size_t instructions) {
  std::vector<LineDifference> lines;
  for (int side = 0; side < 2; ++side) {
    for (const PlaceRow& row : sides.lines(side).rows) {
      auto line = std::find_if(lines.begin(), lines.end(),
                               [&](const LineDifference& one) { return one.name == row.name; });
      if (line == lines.end()) {
        lines.push_back({row.name, {}, {}});
        line = lines.end() - 1;
      }
      Estimate& sum = side == 0 ? line->a : line->b;
      sum.value += row.per_iteration[instructions].value;
      sum.standard_error += row.per_iteration[instructions].standard_error;
    }
  }
  std::erase_if(lines, [](const LineDifference& one) {
    return std::abs(one.a.value - one.b.value) < kNothing;
  });
  std::stable_sort(lines.begin(), lines.end(), [](const auto& x, const auto& y) {
    return std::abs(x.a.value - x.b.value) > std::abs(y.a.value - y.b.value);
  });
  return lines;
}

}  // namespace

Explanation explain(const Cell& a, const CellCosts& costs_a, const Cell& b,
                    const CellCosts& costs_b, CodeIndex& code) {
  const Profile& profile = code.profile();
  const Sides sides(costs_a, costs_b, code);
  Explanation out;
  out.a = a.name;
  out.b = b.name;
  out.has_mix = sides.has("flops");
  for (size_t event = 0; event < profile.events.size(); ++event) {
    const Estimate& x = costs_a.totals[event];
    const Estimate& y = costs_b.totals[event];
    if (std::abs(x.value - y.value) < kNothing * std::max(1.0, std::abs(x.value))) continue;
    const Event& row = profile.events[event];
    out.events.push_back({profile.strings.text(row.name), row.provenance, x, y});
  }
  // What is counted first, as it was counted; the model's classes behind it.
  std::stable_partition(out.events.begin(), out.events.end(), [](const EventDifference& one) {
    return one.name == "sim:cycles" || !one.name.starts_with("sim:");
  });
  if (out.events.empty()) return out;
  out.lines = compare_lines(sides, find_event(profile, "instructions"));
  out.causes = CauseFinder(sides).find();
  out.remarks_a = choose_remarks(a.detail(kRemarksLabel));
  out.remarks_b = choose_remarks(b.detail(kRemarksLabel));
  return out;
}

std::string print_explanation(const Explanation& explanation, const TextStyle& style) {
  std::string out = fmt::format("A  {}\nB  {}\n\n", printable(explanation.a.text()),
                                printable(explanation.b.text()));
  if (explanation.events.empty()) {
    return out + "An iteration costs the same in both: every event is equal.\n";
  }
  for (size_t i = 0; i < explanation.causes.size(); ++i) {
    const Cause& cause = explanation.causes[i];
    out += print_labelled(i == 0 ? "Why" : "",
                          fmt::format("{}  {}{}", i + 1, cause.text,
                                      cause.place.empty() ? "" : "; most at " + cause.place),
                          style);
  }
  if (explanation.causes.empty()) {
    out += print_labelled("Why", "no kind of instructions stands out", style);
  }
  TextColumn a{"A", true, nullptr, 1, {}};
  TextColumn b{"B", true, nullptr, 2, {}};
  TextColumn difference{"B-A", true, nullptr, 2, {}};
  TextColumn name{"in an iteration", false, nullptr, 2, {}};
  const auto add = [&](const Estimate& x, const Estimate& y, const std::string& what) {
    a.cells.push_back(format_cost(x));
    b.cells.push_back(format_cost(y));
    const Estimate z = y + x * -1.0;
    difference.cells.push_back((z.value > 0 ? "+" : "") + format_cost(z));
    name.cells.push_back(what);
  };
  for (const EventDifference& one : explanation.events) {
    add(one.a, one.b, provenance_mark(one.provenance) + one.name);
  }
  for (const LineDifference& one : explanation.lines) {
    add(one.a, one.b, "=instructions of " + printable(one.name));
  }
  out += '\n' + print_table({a, b, difference, name}, style.width);
  for (const auto& [label, remarks] :
       {std::pair("A says", &explanation.remarks_a), std::pair("B says", &explanation.remarks_b)}) {
    const char* heading = label;
    for (const std::string_view line : split(trim(*remarks), '\n')) {
      if (line.empty()) continue;
      if (heading == label) out += '\n';
      out += print_labelled(heading, printable(line), style);
      heading = "";
    }
  }
  return out;
}

std::string print_explanation_json(const Explanation& explanation) {
  const auto name = [](const CellName& cell) {
    Json parameters = Json::object();
    for (const Variable& one : cell.parameters) parameters[one.name] = one.value;
    return Json{{"program", cell.program}, {"setup", cell.setup}, {"parameters", parameters}};
  };
  Json causes = Json::array();
  for (const Cause& one : explanation.causes) {
    causes.push_back(
        {{"name", one.name}, {"text", one.text}, {"place", one.place}, {"weight", one.weight}});
  }
  Json events = Json::array();
  for (const EventDifference& one : explanation.events) {
    events.push_back({{"name", one.name},
                      {"provenance", provenance_name(one.provenance)},
                      {"a", one.a.value},
                      {"b", one.b.value}});
  }
  Json lines = Json::array();
  for (const LineDifference& one : explanation.lines) {
    lines.push_back({{"name", one.name}, {"a", one.a.value}, {"b", one.b.value}});
  }
  return dump({{"schema", "culprit-scan-explain-1"},
               {"a", name(explanation.a)},
               {"b", name(explanation.b)},
               {"causes", std::move(causes)},
               {"events", std::move(events)},
               {"instructions_by_line", std::move(lines)},
               {"remarks_a", explanation.remarks_a},
               {"remarks_b", explanation.remarks_b}});
}

}  // namespace culprit::scan
