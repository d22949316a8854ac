#include "scan/plan_checks.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/names.h"
#include "base/text.h"

namespace culprit::scan {
namespace {

bool holds(std::string_view text, std::string_view name) {
  return text.find(fmt::format("{{{}}}", name)) != std::string_view::npos;
}

/// Numbers with something between them.
bool looks_like_list(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) return true;
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::string_view kBetween = ",; ";
  if (text.find_first_not_of(std::string(kDigits) + std::string(kBetween)) != text.npos) {
    return false;
  }
  const size_t first = text.find_first_of(kDigits);
  const size_t between = first == text.npos ? text.npos : text.find_first_of(kBetween, first);
  return between != text.npos && text.find_first_of(kDigits, between) != text.npos;
}

/// The names that stand in braces in what is built and run.
std::vector<std::string> names_in_commands(const Plan& plan) {
  std::vector<std::string> names;
  for (const std::string* text : {&plan.build, &plan.run}) {
    for (size_t at = text->find('{'); at != std::string::npos; at = text->find('{', at + 1)) {
      const size_t end = text->find('}', at);
      if (end == std::string::npos) break;
      names.push_back(text->substr(at + 1, end - at - 1));
    }
  }
  return names;
}

}  // namespace

std::string check_text(std::string_view name, std::string_view text) {
  if (!looks_like_list(text)) return "";
  return fmt::format(
      "{0} is one value, '{1}': a list is {0} = [1, 2, 3]; a list of one is [\"{1}\"]", name,
      printable(text));
}

std::string check_values(const Parameter& parameter) {
  std::vector<std::string> values = parameter.values;
  for (const std::string& value : values) {
    if (values.size() == 1 || value.find("..") == std::string::npos || !expand_range(value))
      continue;
    return fmt::format("'{1}' in a list is a text: a range stands alone, {0} = \"{1}\"",
                       parameter.name, printable(value));
  }
  std::sort(values.begin(), values.end());
  const auto twice = std::adjacent_find(values.begin(), values.end());
  if (twice == values.end()) return "";
  return fmt::format("{} has the value '{}' twice", parameter.name, printable(*twice));
}

std::string check_variable(const Plan& plan, std::string_view name) {
  static constexpr std::string_view kOwn[] = {"program", "out", "runs", "remarks"};
  if (std::find(std::begin(kOwn), std::end(kOwn), name) != std::end(kOwn)) {
    return fmt::format("{{{}}} is a word of scan's own, and no setup's", name);
  }
  if (plan.find_parameter(name) == nullptr) return "";
  return fmt::format("{} is a parameter of [scan] already", printable(name));
}

bool is_used(const Plan& plan, std::string_view name, const Variables& rest) {
  if (find_compiler({{std::string(name), ""}}) != nullptr) return true;
  if (holds(plan.build, name) || holds(plan.run, name)) return true;
  return std::any_of(rest.begin(), rest.end(),
                     [&](const Variable& one) { return holds(one.value, name); });
}

std::string tell_unused(const Plan& plan, std::string_view name) {
  const std::string nearest = nearest_word(std::string(name), names_in_commands(plan));
  return fmt::format("nothing uses {0}: {{{0}}} stands in neither build nor run{1}",
                     printable(name),
                     nearest.empty() ? "" : " (did you mean " + printable(nearest) + "?)");
}

std::string check_build(const Plan& plan) {
  if (plan.build.empty() || holds(plan.build, "out") || !holds(plan.run, "out")) return "";
  return "scan.run starts {out}, which scan.build does not make: {out} does not stand in it";
}

}  // namespace culprit::scan
