#include "templates/template_toml.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "templates/quantities.h"
#include "templates/template_words.h"
#include "toml/toml_section.h"

namespace culprit {
namespace {

constexpr size_t kMostRows = 1000;
constexpr size_t kMostOperands = 64;
constexpr double kMostCycles = 1e6;
constexpr uint64_t kMostCode = INT64_MAX;  // what TOML can write
constexpr double kMostWeight = 1000;
constexpr uint64_t kMostPeriod = uint64_t{1} << 40;

void read_coverage(TomlSection section, Template& out) {
  for (auto& [key, branch] : section.all_sections()) {
    const auto& words = branch_word_list();
    const auto found = std::find_if(words.begin(), words.end(),
                                    [&](const auto& word) { return word.first == key; });
    if (found == words.end() || !is_level3(found->second)) {
      section.mistake(key, fmt::format("there is no branch {}", printable(key)));
      return;
    }
    BranchCoverage& coverage = out.coverage[static_cast<size_t>(found->second)];
    coverage = {Coverage::none, "", branch.line()};
    branch.choice("coverage", coverage.coverage, coverage_words());
    branch.text("reason", coverage.reason);
    branch.end();
    branch.needs({"coverage"});
    if (coverage.coverage != Coverage::full) branch.needs({"reason"});
  }
}

/// A variant may leave out what its base says.
void need_all_branches(TomlSection& root, const Template& out) {
  for (const auto& [key, branch] : branch_word_list()) {
    if (!is_level3(branch) || out.coverage[static_cast<size_t>(branch)].line != 0) continue;
    root.mistake("coverage", fmt::format("there is no coverage.{} here", key));
  }
}

void read_penalty(TomlSection& section, Penalty& penalty) {
  double value = 0;
  section.number("penalty", value, 0, kMostCycles);
  if (section.has("penalty")) penalty.value = value;
  section.choice("unit", penalty.unit, penalty_unit_words());
  section.text("source", penalty.source);
  section.boolean("estimate", penalty.is_estimate);
}

void need_penalty(TomlSection& section, const TemplateRow& row) {
  const bool has_one = section.has("penalty") || section.has("unit") || section.has("source");
  if (row.role != Role::sum && row.role != Role::bound && !has_one) return;
  section.needs({"unit", "source"});
  // What is still to be measured may have no default.
  if (row.penalty.unit != PenaltyUnit::measured) section.needs({"penalty"});
}

void read_name_state(TomlSection& section, TemplateRow& row) {
  section.choice("name_state", row.name_state, name_state_words());
  section.text("name_source", row.name_source);
}

/// Returns whether it says that it is counted only, never sampled.
bool read_event(TomlSection& section, const Template& whole, TemplateRow& row) {
  bool is_counting_only = false;
  section.text("event", row.event);
  if (!whole.is_simulated) {
    section.integer("code", row.code, 0, kMostCode);
    section.integer("code1", row.code1, 0, kMostCode);
    read_name_state(section, row);
  } else if (section.has("code")) {
    section.mistake("code", "simulated events have no code");
  }
  section.integer("period", row.period, 1, kMostPeriod);
  section.integer("precise", row.precise, 0, 3);
  section.boolean("counting_only", is_counting_only);
  return is_counting_only;
}

TemplateRow read_row(TomlSection section, const Template& whole, const TemplateRow& defaults) {
  TemplateRow row = defaults;
  row.line = section.line();
  const bool is_counting_only = read_event(section, whole, row);
  section.choice("branch", row.branch, branch_word_list());
  section.text("group", row.group);
  section.text("label", row.label);
  section.choice("role", row.role, role_words());
  read_penalty(section, row.penalty);
  section.text("quantity", row.quantity);
  if (!row.quantity.empty() && !is_quantity(row.quantity)) {
    section.mistake("quantity",
                    fmt::format("quantity is none of: {}", fmt::join(kQuantities, ", ")));
  }
  section.text("part_of", row.part_of);
  section.text("problem", row.problem);
  section.text("advice", row.advice);
  section.text("note", row.note);
  section.end();
  section.needs({"event", "branch", "label", "role", "problem"});
  if (!whole.is_simulated) section.needs({"code"});
  if (row.role == Role::sum || row.role == Role::bound) section.needs({"advice"});
  need_penalty(section, row);
  if (!is_counting_only) {
    section.needs({"period"});
  } else if (section.has("period")) {
    section.mistake("period", "a row with counting_only = true has no period");
  }
  return row;
}

TemplateFormula read_formula(TomlSection section) {
  TemplateFormula out;
  out.line = section.line();
  section.choice("formula", out.formula, formula_words());
  section.choice("branch", out.branch, branch_word_list());
  section.text("group", out.group);
  section.text("label", out.label);
  section.choice("role", out.role, role_words());
  section.texts("operands", out.operands);
  section.numbers("weights", out.weights, -kMostWeight, kMostWeight);
  double constant = 0;
  section.number("constant", constant, 0, kMostCycles);
  if (section.has("constant")) out.constant = constant;
  section.text("source", out.source);
  section.text("problem", out.problem);
  section.text("advice", out.advice);
  section.text("note", out.note);
  section.end();
  section.needs({"formula", "branch", "label", "role", "operands", "source", "problem"});
  if (out.role == Role::sum) section.needs({"advice"});
  if (out.operands.size() > kMostOperands) {
    section.mistake("operands", fmt::format("more than {} operands", kMostOperands));
  }
  if (!out.weights.empty() && out.weights.size() != out.operands.size()) {
    section.mistake("weights", fmt::format("{} weights for {} operands", out.weights.size(),
                                           out.operands.size()));
  }
  return out;
}

/// "2 x EVENT" or "EVENT".
ConsistencyRule::Term make_term(const std::string& text) {
  const size_t times = text.find(" x ");
  if (times == std::string::npos) return {text, 1};
  char* end = nullptr;
  const double weight = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + times || !(weight > 0 && weight <= kMostWeight)) return {text, 1};
  return {text.substr(times + 3), weight};
}

ConsistencyRule read_rule(TomlSection section) {
  ConsistencyRule out;
  out.line = section.line();
  std::vector<std::string> left;
  std::vector<std::string> right;
  section.text("name", out.name);
  section.texts("left", left);
  section.texts("right", right);
  section.number("tolerance", out.tolerance, 0, 1);
  section.text("meaning", out.meaning);
  section.end();
  section.needs({"name", "left", "right", "tolerance", "meaning"});
  for (const std::string& term : left) out.left.push_back(make_term(term));
  for (const std::string& term : right) out.right.push_back(make_term(term));
  return out;
}

void read_head(TomlSection& root, Template& out, TemplateRow& row_defaults) {
  root.text("name", out.name);
  root.text("description", out.description);
  root.text("source", out.source);
  root.text("validated_by", out.validated_by);
  root.text("validated_on", out.validated_on);
  root.boolean("simulated", out.is_simulated);
  root.texts("libpfm", out.libpfm);
  root.texts("cpuid", out.cpuid);
  root.number("dispatch_width", out.dispatch_width, 1, 64);
  root.text("llvm_cpu", out.llvm_cpu);
  read_name_state(root, row_defaults);
  if (out.base.empty()) {
    root.needs({"name", "description", "source", "dispatch_width"});
    if (!out.validated_by.empty()) root.needs({"validated_on"});
    if (!out.is_simulated) root.needs({"libpfm", "cpuid"});
  } else {
    root.needs({"name", "description", "source"});
  }
}

/// Replaces what is the same by `key`, or appends.
template <class T, class Key>
void put(std::vector<T>& all, T value, const Key& key) {
  const auto same = std::find_if(all.begin(), all.end(),
                                 [&](const T& other) { return key(other) == key(value); });
  if (same == all.end()) {
    all.push_back(std::move(value));
  } else {
    *same = std::move(value);
  }
}

/// A variant replaces rows of its base; elsewhere a second of the same is for lint to see.
template <class T, class Read, class Key>
void read_list(const std::vector<TomlSection>& sections, std::vector<T>& all, bool is_variant,
               const Read& read, const Key& key) {
  for (const TomlSection& section : sections) {
    if (all.size() >= kMostRows) return;
    if (is_variant) {
      put(all, read(section), key);
    } else {
      all.push_back(read(section));
    }
  }
}

void read_all(TomlFile& file, const std::string& base_name, Template& out) {
  TomlSection root(file);
  root.text("base", out.base);
  if (!out.base.empty() && out.base != base_name) {
    root.mistake("base", fmt::format("there is no template {}", printable(out.base)));
    return;
  }
  TemplateRow row_defaults;
  read_head(root, out, row_defaults);
  const bool is_variant = !out.base.empty();
  read_coverage(root.section("coverage"), out);
  need_all_branches(root, out);
  const auto read_one_row = [&](const TomlSection& s) { return read_row(s, out, row_defaults); };
  read_list(root.sections("row"), out.rows, is_variant, read_one_row,
            [](const TemplateRow& row) { return row.event; });
  read_list(root.sections("formula"), out.formulas, is_variant, read_formula,
            [](const TemplateFormula& formula) { return formula.label; });
  read_list(root.sections("rule"), out.rules, is_variant, read_rule,
            [](const ConsistencyRule& rule) { return rule.name; });
  if (out.rows.empty()) root.mistake("row", "there is no [[row]] here");
  if (out.rows.size() >= kMostRows) {
    root.mistake("row", fmt::format("more than {} rows", kMostRows - 1));
  }
  root.end();
}

/// What is wrong with what a variant takes over is told at the line that takes it over.
void take_over(const Template& base, uint32_t line, Template& out) {
  const std::string file = out.file;
  out = base;
  out.file = file;
  out.base.clear();
  out.cpuid.clear();
  for (BranchCoverage& coverage : out.coverage) coverage.line = line;
  for (TemplateRow& row : out.rows) row.line = line;
  for (TemplateFormula& formula : out.formulas) formula.line = line;
  for (ConsistencyRule& rule : out.rules) rule.line = line;
}

}  // namespace

std::string find_base_name(std::string_view text, const std::string& file) {
  const TomlFile parsed = parse_toml(text, file);
  if (parsed.mistake) return "";
  for (const auto& [key, value] : *parsed.root.table()) {
    if (key == "base" && value.text() != nullptr) return *value.text();
  }
  return "";
}

TemplateFile parse_template_file(std::string_view text, const std::string& file,
                                 const Template* base) {
  TomlFile parsed = parse_toml(text, file);
  TemplateFile out;
  out.value.file = file;
  if (base != nullptr) take_over(*base, TomlSection(parsed).line("base"), out.value);
  if (!parsed.mistake) read_all(parsed, base == nullptr ? "" : base->name, out.value);
  out.mistake = parsed.mistake;
  return out;
}

Result<Template> parse_template(std::string_view text, const std::string& file,
                                const Template* base) {
  TemplateFile read = parse_template_file(text, file, base);
  if (read.mistake) return read.mistake->error();
  return std::move(read.value);
}

}  // namespace culprit
