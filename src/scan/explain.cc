#include "scan/explain.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "model/forecast_events.h"
#include "print/event_display.h"
#include "print/header_text.h"
#include "print/json_parts.h"
#include "print/text_table.h"
#include "scan/native_costs.h"
#include "scan/place_table.h"
#include "scan/print_answer.h"
#include "scan/quantities.h"

namespace culprit::scan {
namespace {

/// Less is rounding.
constexpr double kSame = 1e-9;

/// So many lines of what a compiler said are shown.
constexpr size_t kMostCompilerLines = 8;

/// What a compiler said of the lines that differ.
std::vector<Remark> choose_remarks(const Cell& cell, const std::vector<LineDifference>& lines) {
  std::vector<std::string> places;
  for (const LineDifference& one : lines) places.push_back(one.name);
  return find_remarks_at(parse_remarks(cell.detail(kRemarksLabel)), places);
}

std::vector<Remark> without_executions(const std::vector<ExecutedRemark>& remarks) {
  std::vector<Remark> all;
  for (const ExecutedRemark& one : remarks) all.push_back(one.remark);
  return all;
}

std::string print_remarks(const Explanation& explanation, const TextStyle& style) {
  if (!explanation.has_remarks) {
    return '\n' + print_labelled("Note",
                                 "the compilers said nothing of what they optimised: put {remarks} "
                                 "into `build`, which makes GCC and clang tell",
                                 style);
  }
  std::string out;
  const auto add = [&](const char* label, const std::vector<ExecutedRemark>& remarks) {
    out += '\n';
    if (remarks.empty()) out += print_labelled(label, "nothing of the lines that differ", style);
    for (size_t i = 0; i < std::min(remarks.size(), kMostCompilerLines); ++i) {
      const Remark& one = remarks[i].remark;
      // Of what is not of vectors it is enough that it was executed at all.
      const std::string executed = is_vectorised(one) ? remarks[i].text() : "";
      out += print_labelled(i == 0 ? label : "",
                            fmt::format("{}:{} {}{}{}{}", printable(one.file), one.line,
                                        one.is_missed ? "missed: " : "", printable(one.text),
                                        executed.empty() ? "" : "; ", executed),
                            style);
    }
    if (remarks.size() > kMostCompilerLines) {
      out += print_labelled(
          "", fmt::format("and {} more (--format json)", remarks.size() - kMostCompilerLines),
          style);
    }
  };
  add("A says", explanation.remarks_a);
  add("B says", explanation.remarks_b);
  return out;
}

std::vector<LineDifference> compare_lines(const PlaceTable& a, const PlaceTable& b,
                                          size_t instructions) {
  std::vector<LineDifference> lines;
  for (int side = 0; side < 2; ++side) {
    for (const PlaceRow& row : (side == 0 ? a : b).rows) {
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
  std::erase_if(
      lines, [](const LineDifference& one) { return std::abs(one.a.value - one.b.value) < kSame; });
  std::stable_sort(lines.begin(), lines.end(), [](const auto& x, const auto& y) {
    return std::abs(x.a.value - x.b.value) > std::abs(y.a.value - y.b.value);
  });
  return lines;
}

/// What native runs of both measured: time first.
std::vector<EventDifference> compare_native(const Cell& a, const Cell& b) {
  std::vector<EventDifference> found;
  for (const std::string& name : list_native_names(a)) {
    const auto cost_a = find_native_cost(a, name);
    const auto cost_b = find_native_cost(b, name);
    if (!cost_a || !cost_b) continue;
    const auto at = name == kTime ? found.begin() : found.end();
    found.insert(at, {name, Provenance::sampled, *cost_a, *cost_b});
  }
  return found;
}

}  // namespace

Explanation explain(const Cell& a, const CellCosts& costs_a, const Cell& b,
                    const CellCosts& costs_b, CodeIndex& code) {
  const Profile& profile = code.profile();
  Explanation out;
  out.a = a.name;
  out.b = b.name;
  for (size_t event = 0; event < profile.events.size(); ++event) {
    const Estimate& x = costs_a.totals[event];
    const Estimate& y = costs_b.totals[event];
    if (std::abs(x.value - y.value) < kSame * std::max(1.0, std::abs(x.value))) continue;
    const Event& row = profile.events[event];
    const std::string& name = profile.strings.text(row.name);
    if (!is_forecast_event(name)) out.events.push_back({name, row.provenance, x, y});
  }
  if (!out.events.empty()) {
    const std::vector<EventDifference> native = compare_native(a, b);
    out.events.insert(out.events.begin(), native.begin(), native.end());
  }
  // What is counted first, as it was counted; the model's classes behind it.
  std::stable_partition(out.events.begin(), out.events.end(), [](const EventDifference& one) {
    return one.name == "sim:cycles" || !one.name.starts_with("sim:");
  });
  if (out.events.empty()) return out;
  const PlaceTable lines_a = make_place_table(costs_a, code, PlaceLevel::line);
  const PlaceTable lines_b = make_place_table(costs_b, code, PlaceLevel::line);
  out.lines = compare_lines(lines_a, lines_b, find_event(profile, "instructions"));
  out.remarks_a = find_executed(choose_remarks(a, out.lines), costs_a, code);
  out.remarks_b = find_executed(choose_remarks(b, out.lines), costs_b, code);
  out.has_remarks = !a.detail(kRemarksLabel).empty() || !b.detail(kRemarksLabel).empty();
  out.code = pair_code(costs_a, costs_b, code);
  const PlaceTable own_a = make_place_table(costs_a, code, PlaceLevel::own_line);
  const PlaceTable own_b = make_place_table(costs_b, code, PlaceLevel::own_line);
  out.causes = find_causes(profile, {&costs_a, &own_a, without_executions(out.remarks_a)},
                           {&costs_b, &own_b, without_executions(out.remarks_b)}, out.code);
  return out;
}

std::string print_explanation(const Explanation& explanation, size_t limit,
                              const TextStyle& style) {
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
  out += print_remarks(explanation, style);
  return out + print_code_pairs(explanation.code, limit, style);
}

std::string print_explanation_json(const Explanation& explanation) {
  const auto name = [](const CellName& cell) {
    Json parameters = Json::object();
    for (const Variable& one : cell.parameters) parameters[one.name] = one.value;
    return Json{{"program", cell.program}, {"setup", cell.setup}, {"parameters", parameters}};
  };
  Json causes = Json::array();
  for (const Cause& one : explanation.causes) {
    causes.push_back({{"name", one.name},
                      {"text", one.text},
                      {"place", one.place},
                      {"weight", one.weight},
                      {"unit", unit_of(one)}});
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
  const auto json_remarks = [](const std::vector<ExecutedRemark>& remarks) {
    Json all = Json::array();
    for (const ExecutedRemark& one : remarks) {
      all.push_back({{"place", fmt::format("{}:{}", one.remark.file, one.remark.line)},
                     {"text", one.remark.text},
                     {"missed", one.remark.is_missed}});
      if (is_vectorised(one.remark)) all.back()["executed"] = one.text();
    }
    return all;
  };
  const auto instructions = [](const std::vector<CodeLine>& lines) {
    Json all = Json::array();
    for (const CodeLine& one : lines) {
      all.push_back({{"address", one.address}, {"text", one.text}, {"executions", one.executions}});
    }
    return all;
  };
  Json code = Json::array();
  for (const CodePair& one : explanation.code) {
    code.push_back({{"line", one.line},
                    {"source", one.source},
                    {"a", instructions(one.a)},
                    {"b", instructions(one.b)}});
  }
  return dump({{"schema", "culprit-scan-explain-1"},
               {"a", name(explanation.a)},
               {"b", name(explanation.b)},
               {"causes", std::move(causes)},
               {"events", std::move(events)},
               {"instructions_by_line", std::move(lines)},
               {"remarks_a", json_remarks(explanation.remarks_a)},
               {"remarks_b", json_remarks(explanation.remarks_b)},
               {"code", std::move(code)}});
}

}  // namespace culprit::scan
