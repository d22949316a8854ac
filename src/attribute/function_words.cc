#include "attribute/function_words.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <vector>

#include "base/names.h"

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

/// Words that may stand for a name, those that people would type first.
std::vector<std::string> list_patterns(const std::string& name, size_t room) {
  const std::string bare(without_parameters(name));
  const bool plain =
      std::all_of(bare.begin(), bare.end(), [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
  std::vector<std::string> patterns;
  const auto is_short = [room](const std::string& word) { return shell_word(word).size() <= room; };
  if (plain && is_short(bare)) patterns.push_back(bare);
  // "<*>" is put in after the rest is escaped: it must not be taken for the name's own.
  const std::string open = open_arguments(escape_pattern(bare));
  const size_t first_suffix = patterns.size();
  for (const std::string_view part : qualified_suffixes(open)) {
    patterns.push_back("*::" + std::string(part));
  }
  std::reverse(patterns.begin() + static_cast<std::ptrdiff_t>(first_suffix), patterns.end());
  patterns.push_back(open);
  if (plain) patterns.push_back(bare);
  patterns.push_back(escape_pattern(bare));
  patterns.push_back(escape_pattern(name));  // with its parameters
  return patterns;
}

bool is_meant(const FunctionFinder& finder, const std::optional<FunctionMatch>& found,
              const NamedFunction& function) {
  return found && *found->name == function.name && found->inlined == function.inlined &&
         (function.module.empty() || finder.code().module(found->image) == function.module);
}

/// The longest plain word of the function's own name. No pattern that list_patterns() makes of the
/// name matches one that does not have it, so most functions need not be looked at.
std::string find_own_word(const std::string& name) {
  const std::string bare = without_template_arguments(without_parameters(name));
  std::string longest;
  std::string word;
  for (const char c : std::string(last_part(bare)) + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      word += c;
      continue;
    }
    if (word.size() > longest.size()) longest = word;
    word.clear();
  }
  return longest;
}

}  // namespace

std::string make_function_words(CodeIndex& code, const NamedFunction& function, size_t room) {
  const std::vector<std::string> patterns = list_patterns(function.name, room);
  const FunctionFinder finder(code, find_own_word(function.name));
  for (const bool alone : {true, false}) {  // else it is the one with the most counts
    for (const std::string& pattern : patterns) {
      const std::optional<FunctionMatch> found = finder.match({pattern});
      if (!is_meant(finder, found, function) || (alone && found->matches > 1)) continue;
      return shell_word(pattern);
    }
  }
  if (!function.module.empty()) {
    const std::string module = base_name(function.module);
    for (const std::string& pattern : patterns) {
      const WantedFunction wanted{pattern, escape_pattern(module)};
      if (!is_meant(finder, finder.match(wanted), function)) continue;
      return shell_word(pattern) + " --module " + shell_word(escape_pattern(module));
    }
  }
  constexpr size_t kMostCopies = 100;
  const std::string exact = escape_pattern(function.name);
  for (size_t copy = 2; copy <= kMostCopies; ++copy) {
    const std::optional<FunctionMatch> found = finder.match({exact, "", copy});
    if (!found) break;
    if (is_meant(finder, found, function)) {
      return fmt::format("{} --copy {}", shell_word(exact), copy);
    }
  }
  return shell_word(patterns.front());
}

}  // namespace culprit
