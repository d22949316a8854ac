#include "scan/kernel_rules.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

#include "base/text.h"
#include "scan/answer.h"

namespace culprit::scan {
namespace {

/// A loop's count, comparison and branch.
constexpr double kBareLoop = 3;

/// What waits for refused forwarding is told from this part of the cycles on: less decides nothing.
constexpr double kMuchForwarding = 0.01;

/// A parameter changes something if it does so within a factor of two; fewer values prove nothing.
constexpr size_t kLeastValues = 3;
constexpr double kLeastRange = 2;

std::optional<double> find_value(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The numbers among the words of an output, with those that are none: "nan", "-inf".
struct PrintedNumbers {
  std::vector<double> numbers;
  std::string odd;  // the first that is not finite
};

PrintedNumbers find_numbers(const std::string& output) {
  PrintedNumbers found;
  std::string word;
  const auto end_word = [&] {
    while (!word.empty() && word.back() == '.') word.pop_back();
    std::string digits = word.starts_with('+') ? word.substr(1) : word;
    if (const auto value = find_value(digits)) {
      if (std::isfinite(*value)) {
        found.numbers.push_back(*value);
      } else if (found.odd.empty()) {
        found.odd = word;
      }
    }
    word.clear();
  };
  for (const char c : output) {
    const bool is_part = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' ||
                         c == '+' || c == '_';
    if (is_part) {
      word += c;
    } else {
      end_word();
    }
  }
  end_word();
  return found;
}

/// Cells of one program and setup that differ in one parameter alone, by its value.
struct SizeGroup {
  std::string parameter;
  std::vector<std::pair<double, size_t>> cells;
};

std::vector<SizeGroup> find_size_groups(const std::vector<Cell>& cells) {
  std::map<std::string, SizeGroup> groups;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (!cells[i].is_measured()) continue;
    const CellName& name = cells[i].name;
    for (const Variable& varied : name.parameters) {
      const auto value = find_value(varied.value);
      if (!value) continue;
      std::string key =
          name.program + '\0' + name.setup + '\0' + cells[i].label() + '\0' + varied.name + '\0';
      for (const Variable& other : name.parameters) {
        if (other.name != varied.name) key += other.name + '\0' + other.value + '\0';
      }
      SizeGroup& group = groups[key];
      group.parameter = varied.name;
      group.cells.emplace_back(*value, i);
    }
  }
  std::vector<SizeGroup> out;
  for (auto& [key, group] : groups) {
    std::sort(group.cells.begin(), group.cells.end());
    const double least = group.cells.front().first;
    const double most = group.cells.back().first;
    if (group.cells.size() < kLeastValues || most < kLeastRange * std::max(least, 1.0)) continue;
    out.push_back(std::move(group));
  }
  // In the order of their cells, whatever their names.
  std::sort(out.begin(), out.end(), [](const SizeGroup& a, const SizeGroup& b) {
    return std::pair(a.cells.front().second, a.parameter) <
           std::pair(b.cells.front().second, b.parameter);
  });
  return out;
}

class RuleChecker {
 public:
  RuleChecker(const Profile& profile, const std::vector<Cell>& cells,
              const std::vector<std::optional<CellCosts>>& costs,
              const std::vector<std::string>& accepted, const LineOf& line_of)
      : profile_(profile), cells_(cells), costs_(costs), accepted_(accepted), line_of_(line_of) {}

  RuleFindings check() {
    for (size_t i = 0; i < cells_.size(); ++i) {
      if (!cells_[i].is_measured()) continue;
      check_output(i);
      check_float_events(i);
      if (!costs_[i]) continue;
      if (costs_[i]->is_refused) {
        add(i, "growing", "its cost grows with the loop count");
        continue;
      }
      check_removed(i);
      check_forwarding(i);
    }
    check_other_setups();
    for (const SizeGroup& group : find_size_groups(cells_)) check_sizes(group);
    for (const auto& [reason, names] : unknown_values_) {
      add_undecided(fmt::format("values of {}: {}", name_cells(names), reason));
    }
    return std::move(findings_);
  }

 private:
  void add(size_t cell, const char* rule, const std::string& text, bool is_advice = true) {
    for (const std::string& one : accepted_) {
      const size_t blank = one.find(' ');
      if (one.substr(0, blank) != rule) continue;
      if (blank == std::string::npos ||
          matches_pattern(cells_[cell].name.program, trim(std::string_view(one).substr(blank)))) {
        return;
      }
    }
    findings_.broken.push_back({cell, fmt::format("{} [{}]", text, rule), is_advice});
  }

  void add_undecided(const std::string& sentence) {
    std::vector<std::string>& all = findings_.undecided;
    if (std::find(all.begin(), all.end(), sentence) == all.end()) all.push_back(sentence);
  }

  [[nodiscard]] std::optional<double> find_total(size_t cell, const char* event) const {
    const size_t index = find_event(profile_, event);
    if (index == SIZE_MAX || !costs_[cell] || costs_[cell]->is_refused) return std::nullopt;
    return costs_[cell]->totals[index].value;
  }

  /// NOPs are somebody's purpose, as in a kernel that measures them.
  void check_removed(size_t cell) {
    const auto instructions = find_total(cell, "instructions");
    if (!instructions) return;
    if (*instructions == 0) {
      removed_.insert(cell);
      add(cell, "removed",
          "no instruction is executed more often with more iterations: it was optimised away, or "
          "the loop count is not used");
      return;
    }
    static constexpr const char* kWork[] = {
        "L1-dcache-loads",    "L1-dcache-stores",  "flops",        "moves", "simd-integer",
        "integer-multiplies", "integer-divisions", "shuffles",     "nops",  "calls",
        "conversions",        "fp-scalar",         "fp-packed-128"};
    const bool works = std::any_of(std::begin(kWork), std::end(kWork), [&](const char* event) {
      const auto total = find_total(cell, event);
      return total && *total != 0;
    });
    if (works || *instructions > kBareLoop) return;
    removed_.insert(cell);
    add(cell, "removed",
        "an iteration is its loop's count and branch and nothing else: it was optimised away");
  }

  void check_forwarding(size_t cell) {
    const auto refused = find_total(cell, "sim:forward-refused-cycles");
    const auto cycles = find_total(cell, "sim:cycles");
    if (!refused || !cycles) {
      add_undecided(
          "forwarding: without a machine model (machine = \"host\") nothing tells whether loads "
          "wait for stores whose values cannot be forwarded");
      return;
    }
    if (*refused < kMuchForwarding * *cycles || *refused <= 0) return;
    const size_t event = find_event(profile_, "sim:forward-refused-cycles");
    const PlaceCost* worst = nullptr;
    for (const PlaceCost& place : costs_[cell]->places) {
      if (place.behaviour == Behaviour::once) continue;
      if (worst == nullptr ||
          place.per_iteration[event].value > worst->per_iteration[event].value) {
        worst = &place;
      }
    }
    const std::string line = worst == nullptr ? "" : line_of_(worst->at);
    add(cell, "forwarding",
        fmt::format("a load{} waits for stores of which none wrote all that it reads: written in "
                    "pieces, read at once, or the other way round",
                    line.empty() ? "" : " at " + line));
  }

  void check_output(size_t cell) {
    const PrintedNumbers printed = find_numbers(cells_[cell].detail(kOutputLabel));
    if (!printed.odd.empty()) {
      add(cell, "values", "prints " + printed.odd);
    } else if (!printed.numbers.empty() &&
               std::all_of(printed.numbers.begin(), printed.numbers.end(),
                           [](double one) { return one == 0; })) {
      add(cell, "values", "prints nothing but zeros: are its operands?");
    }
  }

  /// "overflow kernel.cc:12", a line each, as the cell's label has it.
  void check_float_events(size_t cell) {
    const std::string& status = cells_[cell].detail(kFloatLabel);
    if (status.empty()) {
      add_undecided(
          "values: cells that an earlier version measured were not looked at for overflow "
          "(culprit scan forget, then run)");
      return;
    }
    if (status.starts_with(kFloatUnknown)) {
      unknown_values_[status.substr(kFloatUnknown.size())].push_back(cells_[cell].name.text());
      return;
    }
    if (status == kFloatNothing) return;
    for (const std::string_view line : split(status, '\n')) {
      if (line.empty()) continue;
      const size_t tab = line.find('\t');
      const std::string_view place = tab == line.npos ? "" : line.substr(tab + 1);
      add(cell, "values",
          fmt::format("{}{}{}", line.substr(0, tab), place.empty() ? "" : ", first at ", place));
    }
  }

  /// What setups of one program, at one size, have in common.
  void check_other_setups() {
    std::map<std::string, std::vector<size_t>> same;
    for (size_t i = 0; i < cells_.size(); ++i) {
      const Cell& cell = cells_[i];
      if (!cell.is_measured()) continue;
      std::string key = cell.label() + '\0' + cell.name.program;
      for (const Variable& one : cell.name.parameters) key += '\0' + one.name + '\0' + one.value;
      same[key].push_back(i);
    }
    for (const auto& [key, cells] : same) {
      check_outputs(cells);
      check_work(cells);
    }
  }

  void check_outputs(const std::vector<size_t>& cells) {
    const Cell& first = cells_[cells.front()];
    for (const size_t cell : cells) {
      if (first.detail(kOutputLabel) == cells_[cell].detail(kOutputLabel)) continue;
      add(cell, "same_output", "prints something else than with " + first.name.setup, false);
    }
  }

  /// A compiler that takes the work out of the loop leaves the store of its result.
  void check_work(const std::vector<size_t>& cells) {
    size_t most = cells.front();
    double flops = 0;
    for (const size_t cell : cells) {
      const auto total = find_total(cell, "flops");
      if (!total || *total <= flops) continue;
      flops = *total;
      most = cell;
    }
    for (const size_t cell : cells) {
      const auto total = find_total(cell, "flops");
      if (!total || *total != 0 || flops < 1 || removed_.contains(cell)) continue;
      add(cell, "removed",
          fmt::format("computes nothing in an iteration, and {} floating-point operations with {}: "
                      "they were optimised away",
                      format_cost({flops, 0}), cells_[most].name.setup));
    }
  }

  void check_sizes(const SizeGroup& group) {
    const size_t first = group.cells.front().second;
    const std::string& output = cells_[first].detail(kOutputLabel);
    const auto all = [&](const auto& holds) {
      return std::all_of(group.cells.begin(), group.cells.end(),
                         [&](const auto& one) { return holds(one.second); });
    };
    const std::string range = fmt::format("from {} to {}", find_text(first, group.parameter),
                                          find_text(group.cells.back().second, group.parameter));
    if (!find_numbers(output).numbers.empty() &&
        all([&](size_t cell) { return cells_[cell].detail(kOutputLabel) == output; })) {
      add(first, "same_output",
          fmt::format("prints the same at every {} {}: does its result depend on the work?",
                      group.parameter, range));
    }
    const bool costs_the_same = all([&](size_t cell) {
      return costs_[cell] && !costs_[cell]->is_refused &&
             costs_[cell]->totals == costs_[first]->totals;
    });
    if (!costs_the_same) return;
    add(first, "same_cost",
        fmt::format("costs the same at every {} {}, in all that is counted: does its work depend "
                    "on it?",
                    group.parameter, range));
  }

  [[nodiscard]] const std::string& find_text(size_t cell, const std::string& parameter) const {
    return *find_variable(cells_[cell].name.parameters, parameter);
  }

  const Profile& profile_;
  const std::vector<Cell>& cells_;
  const std::vector<std::optional<CellCosts>>& costs_;
  const std::vector<std::string>& accepted_;
  const LineOf& line_of_;
  RuleFindings findings_;
  std::set<size_t> removed_;  // cells with nothing in their loop
  std::map<std::string, std::vector<std::string>> unknown_values_;  // reason -> cells
};

}  // namespace

const std::vector<std::string>& kernel_rules() {
  static const std::vector<std::string> kRules = {"growing",     "removed", "same_cost",
                                                  "same_output", "values",  "forwarding"};
  return kRules;
}

Result<void> check_accepted(const std::string& accepted) {
  const std::string rule = accepted.substr(0, accepted.find(' '));
  const std::vector<std::string>& known = kernel_rules();
  if (std::find(known.begin(), known.end(), rule) != known.end()) return {};
  std::string all;
  for (const std::string& one : known) all += (all.empty() ? "" : ", ") + one;
  return Error{fmt::format("no rule of kernels is called '{}': they are {}", printable(rule), all)};
}

RuleFindings check_kernel_rules(const Profile& profile, const std::vector<Cell>& cells,
                                const std::vector<std::optional<CellCosts>>& costs,
                                const std::vector<std::string>& accepted, const LineOf& line_of) {
  return RuleChecker(profile, cells, costs, accepted, line_of).check();
}

}  // namespace culprit::scan
