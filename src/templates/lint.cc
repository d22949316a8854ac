#include "templates/lint.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <set>

#include "base/file.h"
#include "base/names.h"
#include "base/text.h"
#include "templates/find_template.h"
#include "templates/name_check.h"
#include "templates/template_words.h"
#include <nlohmann/json.hpp>

namespace culprit {
namespace {

/// One template while it is looked at.
class Lint {
 public:
  explicit Lint(const Template& whole) : whole_(whole) {
    for (const TemplateRow& row : whole.rows) {
      rows_.emplace(row.event, &row);
      if (row.role == Role::sum && is_level3(row.branch)) summed_.insert(row.event);
    }
    for (const TemplateFormula& formula : whole.formulas) {
      operands_.insert(formula.operands.begin(), formula.operands.end());
      if (formula.role != Role::sum || !is_level3(formula.branch)) continue;
      summed_.insert(formula.operands.begin(), formula.operands.end());
    }
  }

  std::vector<LintFinding> run() {
    check_head();
    check_names(whole_, findings_);
    check_rows();
    for (const TemplateFormula& formula : whole_.formulas) check_formula(formula);
    check_twice();
    check_parts();
    check_coverage();
    check_rules();
    std::stable_sort(findings_.begin(), findings_.end(),
                     [](const LintFinding& a, const LintFinding& b) { return a.line < b.line; });
    return std::move(findings_);
  }

 private:
  void add(uint32_t line, const std::string& message) {
    findings_.push_back({whole_.file, line, message});
  }
  [[nodiscard]] const TemplateRow* find(const std::string& event) const {
    const auto found = rows_.find(event);
    return found == rows_.end() ? nullptr : found->second;
  }

  void check_head() {
    const std::string file = base_name(whole_.file);
    if (file != whole_.name + ".toml") {
      add(1, fmt::format("name is '{}', and the file {}", printable(whole_.name), printable(file)));
    }
    for (const CostBranch branch : {CostBranch::unhalted, CostBranch::stalled}) {
      if (!has_sum(branch)) {
        add(1, fmt::format("no row with role \"sum\" has branch {}", branch_key(branch)));
      }
    }
  }

  void check_rows() {
    std::map<std::string, uint32_t> seen;
    for (const TemplateRow& row : whole_.rows) {
      const auto [first, is_new] = seen.emplace(row.event, row.line);
      if (!is_new) {
        add(row.line,
            fmt::format("{}: the row stands in line {}, too", printable(row.event), first->second));
      }
      if (row.role == Role::derive && !operands_.contains(row.event)) {
        add(row.line, fmt::format("{}: role is \"derive\", and no formula has it as an operand",
                                  printable(row.event)));
      }
    }
  }

  void check_formula(const TemplateFormula& formula) {
    const auto say = [&](const std::string& what) {
      add(formula.line, fmt::format("{}: {}", printable(formula.label), what));
    };
    size_t counting_only = 0;
    for (const std::string& operand : formula.operands) {
      const TemplateRow* row = find(operand);
      if (row == nullptr) {
        say(fmt::format("its operand {} is in no row, and so is never collected",
                        printable(operand)));
      } else if (row->period == 0) {
        ++counting_only;
      }
    }
    if (counting_only != 0 && counting_only != formula.operands.size() && !whole_.is_simulated) {
      say("some of its operands are counting only, and some are not");
    }
    check_operands(formula);
  }

  /// What each function takes: see enum Formula.
  void check_operands(const TemplateFormula& formula) {
    struct Shape {
      size_t least, most;
      bool has_constant;
    };
    static const std::map<Formula, Shape> shapes{
        {Formula::wrong_path, {2, 3, true}},    {Formula::port_saturation, {1, 64, true}},
        {Formula::call_overhead, {0, 1, true}}, {Formula::collisions, {2, 2, false}},
        {Formula::ratio, {2, 2, false}},        {Formula::difference, {2, 64, false}},
    };
    const Shape& shape = shapes.at(formula.formula);
    const std::string& name = word_of(formula_words(), formula.formula);
    const size_t count = formula.operands.size();
    if (count < shape.least || count > shape.most) {
      add(formula.line,
          fmt::format("{}: {} has {} to {} operands, and these are {}", printable(formula.label),
                      name, shape.least, shape.most, count));
    }
    if (formula.constant.has_value() != shape.has_constant) {
      add(formula.line, fmt::format("{}: {} has {} constant", printable(formula.label), name,
                                    shape.has_constant ? "a" : "no"));
    }
    check_ports(formula);
  }

  /// The busiest of all ports: one that is left out is one that cannot be it.
  void check_ports(const TemplateFormula& formula) {
    if (formula.formula != Formula::port_saturation) return;
    for (const TemplateRow& row : whole_.rows) {
      const bool is_port =
          row.branch == CostBranch::port_saturation && row.label.starts_with("port");
      if (is_port && std::find(formula.operands.begin(), formula.operands.end(), row.event) ==
                         formula.operands.end()) {
        add(formula.line, fmt::format("{}: {} is not among its operands", printable(formula.label),
                                      printable(row.event)));
      }
    }
  }

  /// An event may be in one sum of level 3 only, under whatever name.
  void check_twice() {
    std::map<std::string, uint32_t> where;
    std::map<std::pair<uint64_t, uint64_t>, const TemplateRow*> codes;
    for (const TemplateRow& row : whole_.rows) {
      if (row.role != Role::sum || !is_level3(row.branch)) continue;
      where.emplace(row.event, row.line);
      if (whole_.is_simulated) continue;
      const auto [first, is_new] = codes.emplace(std::pair(row.code, row.code1), &row);
      if (!is_new && first->second->event != row.event) {
        add(row.line, fmt::format("{}: counted twice: {} has the same code, and both are summed",
                                  printable(row.event), printable(first->second->event)));
      }
    }
    for (const TemplateFormula& formula : whole_.formulas) {
      if (formula.role != Role::sum || !is_level3(formula.branch)) continue;
      for (const std::string& operand : formula.operands) {
        const auto [first, is_new] = where.emplace(operand, formula.line);
        if (is_new) continue;
        add(formula.line, fmt::format("{}: counted twice: its operand {} is summed in line {}, too",
                                      printable(formula.label), printable(operand), first->second));
      }
    }
  }

  /// A row is not summed beside one that has it among its cycles.
  void check_parts() {
    for (const TemplateRow& row : whole_.rows) {
      std::set<std::string> met{row.event};
      for (const TemplateRow* at = &row; !at->part_of.empty();) {
        const TemplateRow* parent = find(at->part_of);
        if (parent == nullptr) {
          add(at->line, fmt::format("{}: part_of {}, which is in no row", printable(at->event),
                                    printable(at->part_of)));
          break;
        }
        if (!met.insert(parent->event).second) {
          add(row.line, fmt::format("{}: part_of goes round in a circle", printable(row.event)));
          break;
        }
        if (summed_.contains(row.event) && summed_.contains(parent->event)) {
          add(row.line, fmt::format("{}: counted twice: it is part of {}, which is summed, too",
                                    printable(row.event), printable(parent->event)));
        }
        at = parent;
      }
    }
  }

  void check_coverage() {
    for (const auto& [key, branch] : branch_word_list()) {
      if (!is_level3(branch)) continue;
      const BranchCoverage& coverage = whole_.coverage[static_cast<size_t>(branch)];
      const auto say = [&, line = coverage.line, name = key](const std::string& what) {
        add(line, fmt::format("coverage.{} {}", name, what));
      };
      const std::string& word = word_of(coverage_words(), coverage.coverage);
      if (coverage.coverage == Coverage::none && has_sum(branch)) {
        say("is \"none\", and something is summed there");
      } else if (coverage.coverage != Coverage::none && !has_sum(branch)) {
        say(fmt::format("is \"{}\", and nothing is summed there", word));
      }
      if (coverage.coverage != Coverage::full && coverage.reason.empty()) {
        say(fmt::format("is \"{}\" without a reason", word));
      }
      if (coverage.coverage == Coverage::full) check_sampled(branch);
    }
  }

  /// What is summed and never sampled would be 0 in every profile.
  void check_sampled(CostBranch branch) {
    if (whole_.is_simulated) return;
    for (const TemplateRow& row : whole_.rows) {
      if (row.branch == branch && row.role == Role::sum && row.period == 0) {
        add(row.line, fmt::format("{}: summed in a branch of full coverage, and never sampled",
                                  printable(row.event)));
      }
    }
  }

  void check_rules() {
    for (const ConsistencyRule& rule : whole_.rules) {
      if (rule.left.empty() || rule.right.empty()) {
        add(rule.line, fmt::format("rule {}: a side is empty", printable(rule.name)));
      }
      for (const auto* side : {&rule.left, &rule.right}) {
        for (const ConsistencyRule::Term& term : *side) {
          if (find(term.event) != nullptr) continue;
          add(rule.line,
              fmt::format("rule {}: {} is in no row", printable(rule.name), printable(term.event)));
        }
      }
    }
  }

  [[nodiscard]] bool has_sum(CostBranch branch) const {
    const auto sums = [&](const auto& part) {
      return part.branch == branch && part.role == Role::sum;
    };
    return std::any_of(whole_.rows.begin(), whole_.rows.end(), sums) ||
           std::any_of(whole_.formulas.begin(), whole_.formulas.end(), sums);
  }

  const Template& whole_;
  std::map<std::string, const TemplateRow*> rows_;  // the first of each event
  std::set<std::string> operands_;                  // of any formula
  std::set<std::string> summed_;                    // on level 3, by its row or a formula
  std::vector<LintFinding> findings_;
};

/// Why the table of `culprit validate` does not say that a template is right; "": it does.
std::string find_doubt(const Template& whole, const std::string& table) {
  const Result<std::string> text = read_file(table, uint64_t{16} << 20);
  if (!text) return "it is not there";
  const nlohmann::json json = nlohmann::json::parse(*text, nullptr, false);
  const auto says = [&](const char* key, const nlohmann::json& value) {
    return json.is_object() && json.contains(key) && json[key] == value;
  };
  if (!says("schema", "culprit-validate-1")) return "culprit validate did not write it";
  if (!says("template", whole.name)) return "it is of another template";
  if (!says("engine", "pmu")) return "no hardware counted it";
  return says("is_right", true) ? "" : "it has events that are wrong";
}

/// What we call validated has such a table, data/validation beside data/templates.
void lint_validation(const Template& whole, const std::string& path,
                     std::vector<LintFinding>& findings) {
  if (whole.validated_by != "Culprit") return;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const std::string table = (folder / ".." / "validation" / (whole.name + ".json")).string();
  const std::string doubt = find_doubt(whole, table);
  if (doubt.empty()) return;
  findings.push_back({path, 1,
                      fmt::format("validated by Culprit: that takes the table {} (culprit validate "
                                  "--report), and {}",
                                  printable(table), doubt)});
}

}  // namespace

std::vector<LintFinding> lint_template(const Template& whole) {
  return Lint(whole).run();
}

std::vector<LintFinding> lint_template_file(const std::string& path) {
  const TemplateFile file = read_template_file(path);
  if (file.mistake) {
    return {{file.mistake->file, file.mistake->line, file.mistake->what}};
  }
  std::vector<LintFinding> findings = lint_template(file.value);
  lint_validation(file.value, path, findings);
  return findings;
}

}  // namespace culprit
