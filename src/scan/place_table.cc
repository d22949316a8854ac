#include "scan/place_table.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>

#include "attribute/attribution.h"
#include "base/names.h"
#include "base/text.h"
#include "model/forecast_events.h"
#include "print/csv.h"
#include "print/event_display.h"
#include "print/header_text.h"
#include "print/json_parts.h"
#include "print/text_table.h"
#include "scan/print_answer.h"

namespace culprit::scan {
namespace {

constexpr size_t kMostRemarks = 6;

std::string function_name(CodeIndex& code, const Location& at) {
  const std::vector<Frame> frames = code.frames(at);
  const ImageFacts* const facts = code.facts(at.image);
  if (frames.empty() || facts == nullptr) return code.unnamed(at);
  return pretty_name(facts->strings.text(frames.back().function));
}

/// The text of a source line, without blanks around it; "" if the facts do not have it.
std::string source_line(const ImageFacts& facts, StringId file, uint32_t line) {
  for (const SourceFact& source : facts.sources) {
    if (source.file != file || line < source.first_line) continue;
    const size_t index = line - source.first_line;
    if (index < source.lines.size()) return std::string(trim(source.lines[index]));
  }
  return "";
}

/// Where the code is from: the innermost line, or the innermost that is the user's own.
std::optional<std::pair<std::string, std::string>> line_of(CodeIndex& code, const Location& at,
                                                           bool is_own) {
  const std::vector<Frame> frames = code.frames(at);
  const ImageFacts* const facts = code.facts(at.image);
  if (facts == nullptr || frames.empty() || frames.front().line == 0) return std::nullopt;
  const auto own = std::find_if(frames.begin(), frames.end(), [&](const Frame& one) {
    return one.line != 0 && !is_system_source(facts->strings.text(one.file));
  });
  const Frame& frame = is_own && own != frames.end() ? *own : frames.front();
  return std::pair(fmt::format("{}:{}", base_name(facts->strings.text(frame.file)), frame.line),
                   source_line(*facts, frame.file, frame.line));
}

class RowMaker {
 public:
  RowMaker(CodeIndex& code, PlaceLevel level) : code_(code), level_(level) {}

  /// The row that a place belongs to, without its numbers.
  PlaceRow make(const Location& at) {
    PlaceRow row;
    row.function = function_name(code_, at);
    row.name = row.function;
    if (level_ == PlaceLevel::line || level_ == PlaceLevel::own_line) {
      const bool is_own = level_ == PlaceLevel::own_line;
      if (const auto line = line_of(code_, at, is_own)) std::tie(row.name, row.detail) = *line;
    } else if (level_ == PlaceLevel::instruction) {
      row.name = fmt::format("{:x}", code_.link_address(at).value);
      row.detail = instruction_text(at);
      if (const auto line = line_of(code_, at, false)) std::tie(row.line, row.source) = *line;
    }
    return row;
  }

 private:
  /// Decodes a function once, however many of its instructions are asked for.
  std::string instruction_text(const Location& at) {
    const CodePlace place = code_.find(at);
    const ImageFacts* const facts = code_.facts(at.image);
    if (facts == nullptr || place.function == CodePlace::kNone) return "";
    const FunctionFact& function = facts->functions[place.function];
    const auto [known, is_new] = texts_.try_emplace({at.image, function.begin});
    if (is_new) {
      const Result<Disassembly> code = code_.disassemble(at.image, function.begin, function.end);
      if (code) {
        for (const Instruction& one : code->instructions) {
          known->second.emplace(code->to_offset(one.address), one.text);
        }
      }
    }
    const auto text = known->second.find(at.offset);
    return text == known->second.end() ? "" : text->second;
  }

  CodeIndex& code_;
  PlaceLevel level_;
  std::map<std::pair<ImageId, FileOffset>, std::map<FileOffset, std::string>> texts_;
};

void add_remark(std::vector<PlaceRemark>& remarks, const std::string& name, double instructions) {
  for (PlaceRemark& one : remarks) {
    if (one.name != name) continue;
    one.instructions += instructions;
    return;
  }
  remarks.push_back({name, instructions});
}

/// Those that say most come first; of the others the model's classes of cycles last.
size_t rank_of(const Profile& profile, size_t event) {
  static constexpr std::string_view kFirst[] = {"sim:cycles", "instructions", "L1-dcache-loads",
                                                "L1-dcache-stores", "branches"};
  const std::string& name = profile.strings.text(profile.events[event].name);
  const auto found = std::find(std::begin(kFirst), std::end(kFirst), name);
  if (found != std::end(kFirst)) return static_cast<size_t>(found - std::begin(kFirst));
  return std::size(kFirst) + (name.starts_with("sim:") ? 1 : 0);
}

/// Each on a line, its value before it, in two columns.
std::string list_values(const std::vector<std::pair<std::string, std::string>>& values,
                        size_t width) {
  constexpr size_t kValueWidth = 9;
  std::string out;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string one = pad_left(values[i].first, kValueWidth) + "  " + values[i].second;
    const bool is_left = i % 2 == 0 && i + 1 < values.size();
    out += is_left ? pad_right(one, width / 2) : one + "\n";
  }
  return out;
}

bool is_nothing(const std::vector<Estimate>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](const Estimate& one) { return one.value == 0; });
}

std::string fit_name(const std::string& name, size_t width) {
  return shorten_name(name, width);
}

std::string fit_text(const std::string& text, size_t width) {
  return elide_middle(text, width);
}

/// Short headings, as the presets call them.
std::string heading_of(const Profile& profile, size_t event) {
  const Event& row = profile.events[event];
  std::string name = profile.strings.text(row.name);
  if (name == "L1-dcache-loads") name = "loads";
  if (name == "L1-dcache-stores") name = "stores";
  return provenance_mark(row.provenance) + name;
}

/// Rules of kernels that it breaks, and those of which it is not known.
std::string print_rules(const PlaceTable& table, const TextStyle& style) {
  std::string out;
  for (const std::string& one : table.broken_rules) out += print_labelled("Rule", one, style);
  for (const std::string& one : table.undecided_rules)
    out += print_labelled("Unknown", printable(one), style);
  return out;
}

std::string describe_remarks(const std::vector<PlaceRemark>& remarks) {
  std::string out;
  for (size_t i = 0; i < std::min(remarks.size(), kMostRemarks); ++i) {
    out += fmt::format("{}{} {:+.0f}", i == 0 ? "" : ", ", printable(remarks[i].name),
                       remarks[i].instructions);
  }
  if (remarks.size() > kMostRemarks) {
    out += fmt::format(" and {} more", remarks.size() - kMostRemarks);
  }
  return out;
}

}  // namespace

std::string find_own_line(CodeIndex& code, const Location& at) {
  const auto line = line_of(code, at, true);
  return line ? line->first : "";
}

FunctionOf function_of(CodeIndex& code) {
  return [&code](const Location& at) {
    const CodePlace place = code.find(at);
    const uint64_t image = uint64_t{at.image.value} << 40;
    return place.function == CodePlace::kNone ? ~(image + at.offset.value) : image + place.function;
  };
}

PlaceTable make_place_table(const CellCosts& costs, CodeIndex& code, PlaceLevel level) {
  PlaceTable table;
  table.totals = costs.totals;
  table.is_refused = costs.is_refused;
  table.varies = costs.varies;
  table.is_checked = costs.is_checked;
  table.first_runs = costs.first_runs;
  table.last_runs = costs.last_runs;
  for (size_t event = 0; event < costs.totals.size(); ++event) {
    const Event& row = code.profile().events[event];
    const bool is_of_forecasts = is_forecast_event(code.profile().strings.text(row.name));
    if (costs.totals[event].value != 0 && !is_of_forecasts) table.events.push_back(event);
  }
  std::stable_sort(table.events.begin(), table.events.end(), [&](size_t a, size_t b) {
    return rank_of(code.profile(), a) < rank_of(code.profile(), b);
  });
  RowMaker maker(code, level);
  std::map<std::pair<std::string, std::string>, size_t> known;  // by function and name
  const size_t instructions = find_event(code.profile(), "instructions");
  for (const PlaceCost& place : costs.places) {
    if (place.behaviour == Behaviour::once) {
      if (place.executions != 0) {
        add_remark(table.once, function_name(code, place.at), place.executions);
      }
      continue;
    }
    if (place.behaviour == Behaviour::growing) {
      add_remark(table.growing, function_name(code, place.at), place.executions);
    }
    if (is_nothing(place.per_iteration)) continue;
    PlaceRow row = maker.make(place.at);
    const auto [at, is_new] = known.try_emplace({row.function, row.name}, table.rows.size());
    if (is_new) {
      row.per_iteration.resize(costs.totals.size());
      table.rows.push_back(std::move(row));
    }
    PlaceRow& sum = table.rows[at->second];
    sum.varies = sum.varies || place.behaviour == Behaviour::varying;
    for (size_t event = 0; event < sum.per_iteration.size(); ++event) {
      sum.per_iteration[event].value += place.per_iteration[event].value;
      sum.per_iteration[event].standard_error += place.per_iteration[event].standard_error;
    }
  }
  if (level != PlaceLevel::instruction) {
    std::stable_sort(table.rows.begin(), table.rows.end(), [&](const auto& a, const auto& b) {
      return a.per_iteration[instructions].value > b.per_iteration[instructions].value;
    });
  }
  return table;
}

std::string print_place_table(const PlaceTable& table, const Profile& profile, PlaceLevel level,
                              size_t limit, const TextStyle& style) {
  std::string out;
  if (table.is_refused) {
    out += print_labelled(
        "Refused",
        fmt::format("no number is the cost of an iteration: these grow by more than "
                    "the loop count does: {} instructions between {} and {} runs",
                    describe_remarks(table.growing), table.first_runs, table.last_runs),
        style);
    out += print_labelled(
        "",
        "what an iteration does must not depend on how many there are: sizes and data that "
        "follow the loop count make it so",
        style);
    return out;
  }
  if (table.rows.empty()) {
    return print_labelled("Nothing",
                          "no instruction runs more often with more iterations: is the "
                          "loop count an argument, and was the loop optimised away?",
                          style);
  }
  const size_t rows = limit == 0 ? table.rows.size() : std::min(limit, table.rows.size());
  const auto cell = [](const Estimate& value) {
    return value.value == 0 ? std::string("-") : format_cost(value);
  };
  // Events side by side, as many as there is room for; the others stand under the table.
  std::vector<TextColumn> columns;
  std::vector<size_t> left_out;
  size_t used = level == PlaceLevel::function ? 24 : 44;
  for (const size_t event : table.events) {
    TextColumn column{heading_of(profile, event), true, nullptr, columns.empty() ? 1u : 2u, {}};
    size_t width = column.heading.size();
    for (size_t row = 0; row < rows; ++row) {
      column.cells.push_back(cell(table.rows[row].per_iteration[event]));
    }
    column.cells.push_back(cell(table.totals[event]));
    for (const std::string& text : column.cells) width = std::max(width, text.size());
    if (used + width + 2 > style.width && !columns.empty()) {
      left_out.push_back(event);
      continue;
    }
    used += width + 2;
    columns.push_back(std::move(column));
  }
  static constexpr const char* kNames[] = {"function", "line", "address"};
  TextColumn names{kNames[static_cast<size_t>(level)], false, fit_name, 2, {}};
  TextColumn details{level == PlaceLevel::line ? "source" : "instruction", false, fit_text, 2, {}};
  for (size_t row = 0; row < rows; ++row) {
    names.cells.push_back(printable(table.rows[row].name) + (table.rows[row].varies ? " *" : ""));
    details.cells.push_back(expand_tabs(table.rows[row].detail));
  }
  names.cells.emplace_back("an iteration");
  details.cells.emplace_back("");
  columns.push_back(std::move(names));
  if (level != PlaceLevel::function) columns.push_back(std::move(details));
  out += print_table(std::move(columns), style.width);
  if (rows < table.rows.size()) {
    out += fmt::format("({} more: --limit 0)\n", table.rows.size() - rows);
  }
  if (!left_out.empty()) {
    std::vector<std::pair<std::string, std::string>> also;
    for (const size_t event : left_out) {
      also.emplace_back(cell(table.totals[event]), heading_of(profile, event));
    }
    out += "\nAn iteration's other events:\n" + list_values(also, style.width);
  }
  out += '\n';
  if (table.varies) {
    out += print_labelled("*", "iterations differ: a mean of those that were run", style);
  }
  if (!table.once.empty()) {
    out += print_labelled(
        "Once",
        fmt::format("not per iteration, and in no number above: {} instructions between "
                    "{} and {} runs",
                    describe_remarks(table.once), table.first_runs, table.last_runs),
        style);
  }
  if (!table.is_checked) {
    out += print_labelled("Note",
                          "two loop counts: a third would check that the cost of an "
                          "iteration does not depend on them (--runs 100,300,700)",
                          style);
  }
  return out + print_rules(table, style);
}

namespace {

Json json_costs(const PlaceTable& table, const Profile& profile,
                const std::vector<Estimate>& values) {
  Json object = Json::object();
  for (const size_t event : table.events) {
    object[profile.strings.text(profile.events[event].name)] = {
        {"value", values[event].value}, {"error", values[event].standard_error}};
  }
  return object;
}

Json json_remarks(const std::vector<PlaceRemark>& remarks) {
  Json all = Json::array();
  for (const PlaceRemark& one : remarks) {
    all.push_back({{"function", one.name}, {"instructions", one.instructions}});
  }
  return all;
}

}  // namespace

std::string print_place_json(const PlaceTable& table, const Profile& profile, PlaceLevel level) {
  static constexpr const char* kLevels[] = {"function", "line", "instruction"};
  Json rows = Json::array();
  for (const PlaceRow& row : table.rows) {
    rows.push_back({{"function", row.function},
                    {"name", row.name},
                    {"detail", row.detail},
                    {"varies", row.varies},
                    {"per_iteration", json_costs(table, profile, row.per_iteration)}});
  }
  Json totals = nullptr;
  if (!table.is_refused) totals = json_costs(table, profile, table.totals);
  Json document = {{"schema", "culprit-scan-one-1"},
                   {"title", table.title},
                   {"by", kLevels[static_cast<size_t>(level)]},
                   {"first_runs", table.first_runs},
                   {"last_runs", table.last_runs},
                   {"refused", table.is_refused},
                   {"varies", table.varies},
                   {"per_iteration", std::move(totals)},
                   {"rows", std::move(rows)},
                   {"once", json_remarks(table.once)},
                   {"growing", json_remarks(table.growing)}};
  if (!table.broken_rules.empty()) document["broken_rules"] = table.broken_rules;
  if (!table.undecided_rules.empty()) document["undecided_rules"] = table.undecided_rules;
  return dump(document);
}

std::string print_place_csv(const PlaceTable& table, const Profile& profile) {
  std::string text;
  CsvLine heading(text);
  heading.add("function");
  heading.add("place");
  heading.add("detail");
  for (const size_t event : table.events) {
    heading.add(profile.strings.text(profile.events[event].name));
  }
  heading.end();
  for (const PlaceRow& row : table.rows) {
    CsvLine line(text);
    line.add(row.function);
    line.add(row.name);
    line.add(expand_tabs(row.detail));
    for (const size_t event : table.events) {
      line.add(fmt::format("{}", row.per_iteration[event].value));
    }
    line.end();
  }
  return text;
}

}  // namespace culprit::scan
