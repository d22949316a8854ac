#include "scan/command_words.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"

namespace culprit::scan {

Result<std::string> fill_in(std::string_view text, const Variables& variables,
                            const std::string& what) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '{') {
      if (text[i] == '}' && i + 1 < text.size() && text[i + 1] == '}') ++i;
      out += text[i];
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == '{') {
      out += text[++i];
      continue;
    }
    const size_t end = text.find('}', i);
    if (end == std::string_view::npos) {
      return Error{fmt::format("{}: a brace is not closed: '{}'", what, printable(text))};
    }
    const std::string_view name = text.substr(i + 1, end - i - 1);
    const std::string* const value = find_variable(variables, name);
    if (value == nullptr) {
      std::vector<std::string> known;
      for (const Variable& one : variables) known.push_back(one.name);
      const std::string nearest = nearest_word(std::string(name), known);
      return Error{fmt::format("{}: nothing is called {{{}}}{}", what, printable(name),
                               nearest.empty() ? "" : " (did you mean {" + nearest + "}?)")};
    }
    out += *value;
    i = end;
  }
  return out;
}

Result<std::vector<std::string>> fill_words(const std::vector<std::string>& words,
                                            const std::string& runs) {
  std::vector<std::string> out;
  for (const std::string& word : words) {
    ASSIGN_OR_RETURN(std::string filled, fill_in(word, {{"runs", runs}}, "the command"));
    out.push_back(std::move(filled));
  }
  return out;
}

Result<std::vector<std::string>> split_words(std::string_view command) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < command.size()) {
      words.back() += command[++i];
    } else {
      words.back() += c;
    }
  }
  if (quote != 0) {
    return Error{fmt::format("a quote is not closed: '{}'", printable(command))};
  }
  return words;
}

std::string write_runs(uint64_t runs, uint64_t most) {
  return fmt::format("{:0{}}", runs, std::to_string(most).size());
}

}  // namespace culprit::scan
