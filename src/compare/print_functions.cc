#include "compare/print_functions.h"

#include <algorithm>

#include "base/names.h"
#include "base/text.h"
#include "print/header_text.h"

namespace culprit {
namespace {

constexpr size_t kMostMatches = 8;  // in text

std::string list_names(const std::set<std::string>& functions) {
  std::string text;
  for (const std::string& name : functions) {
    text += (text.empty() ? "" : ", ") + pretty_name(printable(name));
  }
  return text;
}

/// What is left of the names without clone suffixes and marks.
std::set<std::string> plain_names(const std::set<std::string>& functions) {
  constexpr std::string_view kInlined = " (inlined)";
  std::set<std::string> plain;
  for (std::string_view name : functions) {
    if (name.ends_with(kInlined)) name.remove_suffix(kInlined.size());
    plain.emplace(without_clone_suffix(name));
  }
  return plain;
}

bool is_on_both_sides(const RowChange& row) {
  return !row.base_functions.empty() && !row.now_functions.empty();
}

bool is_by_shape(const RowChange& row) {
  return is_on_both_sides(row) && plain_names(row.base_functions) != plain_names(row.now_functions);
}

Json json_names(const std::set<std::string>& functions) {
  Json names = Json::array();
  for (const std::string& name : functions) names.push_back(printable(name));
  return names;
}

}  // namespace

std::string describe_functions(const RowChange& row) {
  if (!is_on_both_sides(row) || row.base_functions == row.now_functions) return "";
  return list_names(row.base_functions) + " -> " + list_names(row.now_functions) +
         (is_by_shape(row) ? " (by the shape of the code)" : "");
}

std::string print_functions(const PrintedComparison& what, const Difference& difference,
                            const TextStyle& style) {
  std::string lines;
  size_t shown = 0;
  for (const RowChange& row : difference.rows) {
    const std::string text = describe_functions(row);
    if (text.empty()) continue;
    if (what.limit != 0 && shown == std::min(what.limit, kMostMatches)) break;
    lines += wrap("  " + text, style.width, 6) + "\n";
    ++shown;
  }
  if (lines.empty()) return "";
  return print_labelled("Matched", "functions of the base runs -> those of the new", style) + lines;
}

Json json_functions(const RowChange& row) {
  if (row.base_functions.empty() && row.now_functions.empty()) return {};
  const char* matched_by = !is_on_both_sides(row) ? "none" : is_by_shape(row) ? "shape" : "name";
  return {{"base", json_names(row.base_functions)},
          {"new", json_names(row.now_functions)},
          {"matched_by", matched_by}};
}

}  // namespace culprit
