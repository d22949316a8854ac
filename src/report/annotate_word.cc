#include "report/annotate_word.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/names.h"
#include "report/row_filter.h"

namespace culprit {

namespace {

/// `name` as a pattern of itself. Any one character stands for what patterns are made
/// of, what shells and terminals take for their own, and the bytes of wider characters.
std::string escape_pattern(std::string_view name) {
  std::string pattern(name);
  for (char& c : pattern) {
    const bool plain = std::isgraph(static_cast<unsigned char>(c)) || c == ' ';
    if (!plain || std::string_view("*?[]\\'").find(c) != std::string_view::npos) c = '?';
  }
  return pattern;
}

/// Template arguments, outside and inside each other, as "<*>".
std::string open_arguments(std::string_view name) {
  std::string text = without_template_arguments(name);
  for (size_t at = text.find("<..>"); at != std::string::npos; at = text.find("<..>", at)) {
    text.replace(at, 4, "<*>");
  }
  return text;
}

bool is_only_match(const ReportTable& table, const std::string& name, const std::string& pattern) {
  return matches_function(name, pattern) &&
         std::none_of(table.rows.begin(), table.rows.end(), [&](const ReportRow& row) {
           return row.function && *row.function != name && matches_function(*row.function, pattern);
         });
}

}  // namespace

std::string make_annotate_word(const ReportTable& table, const std::string& name, size_t room) {
  const std::string bare(without_parameters(name));
  const bool plain =
      std::all_of(bare.begin(), bare.end(), [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
  const std::string word = shell_word(bare);
  if (plain && word.size() <= room) return word;

  // "<*>" is put in after the rest is escaped: it must not be taken for the name's own.
  const std::string pattern = open_arguments(escape_pattern(bare));
  std::vector<std::string> candidates;
  for (const std::string_view part : qualified_suffixes(pattern)) {
    candidates.push_back("*::" + std::string(part));
  }
  std::reverse(candidates.begin(), candidates.end());  // the shortest first
  candidates.push_back(pattern);
  candidates.push_back(escape_pattern(bare));
  for (const std::string& candidate : candidates) {
    if (is_only_match(table, name, candidate)) return shell_word(candidate);
  }
  return plain ? word : shell_word(escape_pattern(bare));
}

}  // namespace culprit
