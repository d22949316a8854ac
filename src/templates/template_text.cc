#include "templates/template_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/names.h"
#include "base/text.h"
#include "templates/template_words.h"
#include <nlohmann/json.hpp>

namespace culprit {
namespace {

constexpr const char* kSchema = "culprit-templates-1";
constexpr size_t kLabelColumns = 50;
constexpr size_t kPenaltyColumns = 17;

std::string line_of(size_t indent, const std::string& label, const std::string& middle,
                    const std::string& rest) {
  std::string line = pad_right(std::string(indent, ' ') + label, kLabelColumns) + " " +
                     pad_right(middle, kPenaltyColumns) + " " + rest;
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// + part of the sum, - informs, < the most that it can be, = an operand.
const char* mark_of(Role role) {
  switch (role) {
    case Role::sum:
      return "+ ";
    case Role::bound:
      return "< ";
    case Role::derive:
      return "= ";
    case Role::info:
      break;
  }
  return "- ";
}

std::string penalty_in_words(const Penalty& penalty) {
  if (penalty.source.empty()) return "";
  const std::string unit = penalty.unit == PenaltyUnit::ns ? "ns" : "cycles";
  if (!penalty.value) return "to be measured";
  const double value = *penalty.value;
  return fmt::format("{:.4g} {}{}", value, value == 1 && unit == "cycles" ? "cycle" : unit,
                     penalty.is_estimate ? " ?" : "");
}

std::string print_row(const TemplateRow& row, size_t indent) {
  return line_of(indent, mark_of(row.role) + printable(row.label), penalty_in_words(row.penalty),
                 printable(row.event));
}

std::string print_formula(const TemplateFormula& formula, size_t indent) {
  std::vector<std::string> operands;
  for (size_t i = 0; i < formula.operands.size(); ++i) {
    const double weight = formula.weights.empty() ? 1 : formula.weights[i];
    operands.push_back((weight == 1 ? "" : fmt::format("{:.4g} x ", weight)) +
                       printable(formula.operands[i]));
  }
  const std::string of =
      operands.empty() ? "branch records" : fmt::format("{}", fmt::join(operands, ", "));
  return line_of(indent, mark_of(formula.role) + printable(formula.label), "function",
                 fmt::format("{}({}{})", word_of(formula_words(), formula.formula), of,
                             formula.constant ? fmt::format("; {:g}", *formula.constant) : ""));
}

/// Rows and functions below their groups, in the order of the file.
std::string print_branch(const Template& whole, CostBranch branch, size_t indent) {
  std::vector<std::string> groups{""};
  const auto note = [&](const auto& part) {
    if (part.branch == branch &&
        std::find(groups.begin(), groups.end(), part.group) == groups.end()) {
      groups.push_back(part.group);
    }
  };
  for (const TemplateRow& row : whole.rows) note(row);
  for (const TemplateFormula& formula : whole.formulas) note(formula);
  std::string text;
  for (const std::string& group : groups) {
    const size_t depth = indent + (group.empty() ? 0 : 2);
    if (!group.empty()) text += line_of(indent, printable(group), "", "");
    for (const TemplateRow& row : whole.rows) {
      if (row.branch == branch && row.group == group) text += print_row(row, depth);
    }
    for (const TemplateFormula& formula : whole.formulas) {
      if (formula.branch == branch && formula.group == group) text += print_formula(formula, depth);
    }
  }
  return text;
}

std::string print_coverage(const BranchCoverage& coverage) {
  switch (coverage.coverage) {
    case Coverage::full:
      return "";
    case Coverage::partial:
      return "partly covered: " + printable(coverage.reason);
    case Coverage::none:
      break;
  }
  return "not covered: " + printable(coverage.reason);
}

CostBranch next(CostBranch branch) {
  return static_cast<CostBranch>(static_cast<uint8_t>(branch) + 1);
}

/// A branch with its coverage and what is below it.
std::string print_level(const Template& whole, CostBranch branch) {
  const size_t indent = is_level3(branch) ? 2 : 0;
  std::string text = std::string(indent, ' ') + std::string(branch_words(branch)) + "\n";
  if (is_level3(branch)) {
    const std::string coverage = print_coverage(whole.coverage[static_cast<size_t>(branch)]);
    if (!coverage.empty()) text += wrap("    " + coverage, 100, 4) + "\n";
  }
  return text + print_branch(whole, branch, indent + 2);
}

std::string print_side(const std::vector<ConsistencyRule::Term>& side) {
  std::vector<std::string> terms;
  for (const ConsistencyRule::Term& term : side) {
    terms.push_back((term.weight == 1 ? "" : fmt::format("{:.4g} x ", term.weight)) +
                    printable(term.event));
  }
  return fmt::format("{}", fmt::join(terms, " + "));
}

std::string hex(uint64_t value) {
  return fmt::format("{:#x}", value);
}

nlohmann::ordered_json json_of(const TemplateRow& row, bool is_simulated) {
  nlohmann::ordered_json json{{"event", printable(row.event)}};
  json["code"] = is_simulated ? nlohmann::ordered_json() : nlohmann::ordered_json(hex(row.code));
  json["code1"] = hex(row.code1);
  json["name_state"] = word_of(name_state_words(), row.name_state);
  json["name_source"] = printable(row.name_source);
  json["branch"] = branch_key(row.branch);
  json["group"] = printable(row.group);
  json["label"] = printable(row.label);
  json["role"] = word_of(role_words(), row.role);
  json["part_of"] = printable(row.part_of);
  json["penalty"] =
      row.penalty.value ? nlohmann::ordered_json(*row.penalty.value) : nlohmann::ordered_json();
  json["unit"] = row.penalty.source.empty() ? "" : word_of(penalty_unit_words(), row.penalty.unit);
  json["source"] = printable(row.penalty.source);
  json["estimate"] = row.penalty.is_estimate;
  json["period"] = row.period == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(row.period);
  json["precise"] = row.precise;
  json["problem"] = printable(row.problem);
  json["advice"] = printable(row.advice);
  json["note"] = printable(row.note);
  return json;
}

nlohmann::ordered_json json_of(const TemplateFormula& formula) {
  nlohmann::ordered_json json{{"formula", word_of(formula_words(), formula.formula)},
                              {"branch", branch_key(formula.branch)},
                              {"group", printable(formula.group)},
                              {"label", printable(formula.label)},
                              {"role", word_of(role_words(), formula.role)},
                              {"operands", formula.operands},
                              {"weights", formula.weights}};
  json["constant"] =
      formula.constant ? nlohmann::ordered_json(*formula.constant) : nlohmann::ordered_json();
  json["source"] = printable(formula.source);
  json["problem"] = printable(formula.problem);
  json["advice"] = printable(formula.advice);
  json["note"] = printable(formula.note);
  return json;
}

nlohmann::ordered_json json_of(const std::vector<ConsistencyRule::Term>& side) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const ConsistencyRule::Term& term : side) {
    json.push_back({{"event", printable(term.event)}, {"weight", term.weight}});
  }
  return json;
}

size_t count_branches(const Template& whole, Coverage coverage) {
  size_t count = 0;
  for (const auto& [key, branch] : branch_word_list()) {
    if (is_level3(branch) && whole.coverage[static_cast<size_t>(branch)].coverage == coverage) {
      ++count;
    }
  }
  return count;
}

std::string coverage_in_words(const Template& whole) {
  return fmt::format("{} full, {} partial, {} not", count_branches(whole, Coverage::full),
                     count_branches(whole, Coverage::partial),
                     count_branches(whole, Coverage::none));
}

std::string print_tree(const Template& whole) {
  std::string text =
      fmt::format("{}: {}\n{}\n{}, covers {} of the 11 branches\n\n", printable(whole.name),
                  printable(whole.description), printable(whole.source), validation_in_words(whole),
                  coverage_in_words(whole));
  text += print_level(whole, CostBranch::unhalted) + print_level(whole, CostBranch::stalled);
  for (CostBranch b = kFirstStalled; b < kFirstUnstalled; b = next(b))
    text += print_level(whole, b);
  text += print_level(whole, CostBranch::unstalled);
  for (CostBranch b = kFirstUnstalled; is_level3(b); b = next(b)) text += print_level(whole, b);
  text += print_level(whole, CostBranch::general);
  if (!whole.rules.empty()) text += "the same number two ways\n";
  for (const ConsistencyRule& rule : whole.rules) {
    text += fmt::format("  {}, within {:.3g} %:\n", printable(rule.name), 100 * rule.tolerance);
    text += wrap(fmt::format("    {} = {}", print_side(rule.left), print_side(rule.right)), 100, 6);
    text += "\n";
  }
  return text +
         "\n+ summed   - informs   = operand of a function   < at most   ? estimate: a default "
         "until measured\n";
}

nlohmann::ordered_json json_of(const Template& whole) {
  nlohmann::ordered_json json{{"name", printable(whole.name)},
                              {"base", printable(whole.base)},
                              {"description", printable(whole.description)},
                              {"source", printable(whole.source)},
                              {"validated", !whole.validated_by.empty()},
                              {"validated_by", printable(whole.validated_by)},
                              {"validated_on", printable(whole.validated_on)},
                              {"simulated", whole.is_simulated},
                              {"libpfm", whole.libpfm},
                              {"cpuid", whole.cpuid},
                              {"dispatch_width", whole.dispatch_width}};
  json["coverage"] = nlohmann::ordered_json::object();
  for (const auto& [key, branch] : branch_word_list()) {
    if (!is_level3(branch)) continue;
    const BranchCoverage& coverage = whole.coverage[static_cast<size_t>(branch)];
    json["coverage"][key] = {{"coverage", word_of(coverage_words(), coverage.coverage)},
                             {"reason", printable(coverage.reason)}};
  }
  json["rows"] = nlohmann::ordered_json::array();
  for (const TemplateRow& row : whole.rows)
    json["rows"].push_back(json_of(row, whole.is_simulated));
  json["formulas"] = nlohmann::ordered_json::array();
  for (const TemplateFormula& formula : whole.formulas)
    json["formulas"].push_back(json_of(formula));
  json["rules"] = nlohmann::ordered_json::array();
  for (const ConsistencyRule& rule : whole.rules) {
    json["rules"].push_back({{"name", printable(rule.name)},
                             {"left", json_of(rule.left)},
                             {"right", json_of(rule.right)},
                             {"tolerance", rule.tolerance},
                             {"meaning", printable(rule.meaning)}});
  }
  return json;
}

}  // namespace

std::string validation_in_words(const Template& whole) {
  if (whole.validated_by.empty()) return "not validated on hardware";
  return fmt::format("validated by {} on {}", printable(whole.validated_by),
                     printable(whole.validated_on));
}

std::string print_template(const Template& whole, Format format) {
  if (format != Format::json) return print_tree(whole);
  nlohmann::ordered_json json{{"schema", kSchema}};
  json["template"] = json_of(whole);
  return json.dump(1) + "\n";
}

std::string print_template_list(const std::vector<ListedTemplate>& list, const std::string& cpuid,
                                Format format) {
  nlohmann::ordered_json json{{"schema", kSchema}, {"cpu", cpuid}};
  json["templates"] = nlohmann::ordered_json::array();
  std::string text =
      fmt::format("{:<20}  {:<24}  {:<10}  {}\n", "template", "branches of 11", "validated", "CPU");
  bool is_any_here = false;
  for (const ListedTemplate& listed : list) {
    const Template& whole = listed.whole;
    is_any_here = is_any_here || listed.is_here;
    json["templates"].push_back({{"name", printable(whole.name)},
                                 {"description", printable(whole.description)},
                                 {"validated", !whole.validated_by.empty()},
                                 {"validated_by", printable(whole.validated_by)},
                                 {"full", count_branches(whole, Coverage::full)},
                                 {"partial", count_branches(whole, Coverage::partial)},
                                 {"none", count_branches(whole, Coverage::none)},
                                 {"is_here", listed.is_here}});
    text += fmt::format("{:<20}  {:<24}  {:<10}  {}{}\n", printable(whole.name),
                        coverage_in_words(whole),
                        whole.validated_by.empty() ? "no" : "by " + printable(whole.validated_by),
                        printable(whole.description), listed.is_here ? "  <- this machine" : "");
  }
  if (!is_any_here) {
    text += fmt::format(
        "\nNone is for this machine's CPU ({}): docs/manual.md, \"Templates\", "
        "says how to add one.\n",
        cpuid.empty() ? "which does not say what it is" : printable(cpuid));
  }
  text += "\nNext  culprit templates show NAME   its branches, events and penalties\n";
  return format == Format::json ? json.dump(1) + "\n" : text;
}

}  // namespace culprit
