#include "base/names.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace culprit {

namespace {

constexpr std::string_view kOperator = "operator";
constexpr std::string_view kWordCharacters =
    "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Length of an operator's symbols at `at` ("operator<<", "operator()"), so that
/// they are not taken for brackets; 0 if there is none.
size_t operator_length(std::string_view name, size_t at) {
  if (name[at] != kOperator.front() || !name.substr(at).starts_with(kOperator)) return 0;
  const bool inside_word =
      at > 0 && (std::isalnum(static_cast<unsigned char>(name[at - 1])) || name[at - 1] == '_');
  if (inside_word) return 0;
  static constexpr std::string_view kSymbols[] = {"()", "<=>", "<<=", ">>=", "->*", "<<",
                                                  ">>", "<=",  ">=",  "->",  "<",   ">"};
  for (const std::string_view symbol : kSymbols) {
    if (name.substr(at + kOperator.size(), symbol.size()) == symbol) {
      return kOperator.size() + symbol.size();
    }
  }
  return kOperator.size();
}

/// The bracket that closes the one at `open`; the end of the name if none does.
size_t closing(std::string_view name, size_t open) {
  size_t depth = 0;
  for (size_t at = open; at < name.size(); ++at) {
    if (const size_t skip = operator_length(name, at); skip > 0) {
      at += skip - 1;
      continue;
    }
    const char c = name[at];
    const bool arrow = c == '>' && at > 0 && name[at - 1] == '-';
    if (c == '<' || c == '(' || c == '{') ++depth;
    if ((c == '>' && !arrow) || c == ')' || c == '}') --depth;
    if (depth == 0) return at;
  }
  return name.size();
}

/// Where the parameter list begins; npos if there is none. "(anonymous namespace)::f(int)"
/// and "{lambda(int)#1}::operator()(int)" have theirs last.
size_t parameters_begin(std::string_view name) {
  for (size_t at = 0; at < name.size(); ++at) {
    if (const size_t skip = operator_length(name, at); skip > 0) {
      at += skip - 1;
      continue;
    }
    if (name[at] != '(' && name[at] != '<' && name[at] != '{') continue;
    const size_t end = closing(name, at);
    const bool qualifier = name.substr(std::min(end + 1, name.size())).starts_with("::");
    if (name[at] == '(' && at > 0 && !qualifier) return at;
    at = end;
  }
  return std::string_view::npos;
}

/// Calls visit(position) for the first of every "::" and every blank outside brackets.
template <class Visit>
void for_each_break(std::string_view name, Visit visit) {
  for (size_t at = 0; at < name.size(); ++at) {
    if (const size_t skip = operator_length(name, at); skip > 0) {
      if (name[std::min(at + skip, name.size() - 1)] == ' ')
        return;  // "operator new", "operator bool"
      at += skip - 1;
    } else if (name[at] == '(' || name[at] == '<' || name[at] == '{') {
      at = closing(name, at);
    } else if (name[at] == ' ') {
      visit(at);
    } else if (name.substr(at, 2) == "::") {
      visit(at);
      ++at;
    }
  }
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

/// Keeps as many of the last parts as fit, behind ".."; "" if not even the last one does.
std::string drop_qualifiers(std::string_view name, size_t width) {
  std::string result;
  for_each_break(name, [&](size_t at) {
    const std::string_view rest = name.substr(at);
    if (result.empty() && rest.starts_with("::") && count_columns(rest) + 2 <= width) {
      result = ".." + std::string(rest);
    }
  });
  return result;
}

/// elide_middle by columns, which may not cut through a character.
std::string elide_columns(std::string_view text, size_t width) {
  if (count_columns(text) <= width) return std::string(text);
  return printable(elide_middle(text, width));
}

}  // namespace

std::string base_name(std::string_view path) {
  if (path.starts_with('[')) return std::string(path);
  const size_t slash = path.find_last_of('/');
  if (slash == std::string_view::npos || slash + 1 == path.size()) return std::string(path);
  return std::string(path.substr(slash + 1));
}

std::string_view without_parameters(std::string_view name) {
  return name.substr(0, parameters_begin(name));
}

std::string_view without_number(std::string_view symbol) {
  const size_t dot = symbol.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == symbol.size()) return symbol;
  const bool is_number = symbol.find_first_not_of("0123456789", dot + 1) == std::string_view::npos;
  return is_number ? symbol.substr(0, dot) : symbol;
}

std::string without_template_arguments(std::string_view name) {
  std::string result;
  result.reserve(name.size());
  for (size_t at = 0; at < name.size(); ++at) {
    if (const size_t skip = operator_length(name, at); skip > 0) {
      result += name.substr(at, skip);
      at += skip - 1;
    } else if (name[at] == '<' && at > 0) {
      const size_t end = closing(name, at);
      const bool longer = end - at > 3;
      result += longer ? "<..>" : name.substr(at, end - at + 1);
      at = end;
    } else {
      result += name[at];
    }
  }
  return result;
}

std::vector<std::string_view> qualified_suffixes(std::string_view name) {
  std::vector<std::string_view> suffixes;
  for_each_break(name, [&](size_t at) {
    if (name.substr(at, 2) == "::") suffixes.push_back(name.substr(at + 2));
  });
  return suffixes;
}

bool is_called(std::string_view name, std::string_view wanted) {
  const auto is_tail = [wanted](std::string_view whole) {
    if (whole == wanted) return true;
    const std::vector<std::string_view> suffixes = qualified_suffixes(whole);
    return std::find(suffixes.begin(), suffixes.end(), wanted) != suffixes.end();
  };
  if (name == wanted) return true;
  // A pattern is no name, unless of an operator or a pointer; telling so early pays.
  for (const char sign : {'*', '?', '['}) {
    const bool is_in_name = name.find(sign) != std::string_view::npos;
    if (!is_in_name && wanted.find(sign) != std::string_view::npos) return false;
  }
  // It cannot be meant either if its last word is not in the name, in whatever form.
  const size_t last_word = wanted.find_last_not_of(kWordCharacters) + 1;
  if (name.find(wanted.substr(last_word)) == std::string_view::npos) return false;
  const std::string_view bare = without_parameters(name);
  if (is_tail(bare) || is_tail(without_template_arguments(bare))) return true;
  const std::string pretty = pretty_name(bare);
  return is_tail(pretty) || is_tail(without_template_arguments(pretty));
}

std::string shorten_name(std::string_view name, size_t width) {
  const std::string clean = printable(name);
  if (count_columns(clean) <= width) return clean;
  const std::string_view bare = without_parameters(clean);
  if (count_columns(bare) <= width) return std::string(bare);
  const std::string short_name = without_template_arguments(bare);
  if (count_columns(short_name) <= width) return short_name;
  // Several columns in one cell of a tree are not one name.
  const bool one_name = short_name.find("  ") == std::string::npos;
  const std::string end = one_name ? drop_qualifiers(short_name, width) : "";
  if (!end.empty() || !one_name) return end.empty() ? elide_columns(short_name, width) : end;
  std::string_view own = last_part(short_name);
  if (count_columns(own) > width && own.ends_with("<..>")) own.remove_suffix(4);
  return elide_columns(own, width);
}

std::string pretty_name(std::string_view name) {
  std::string text(name);
  for (const std::string_view space : {"std::__cxx11::", "std::__1::"}) {
    replace_all(text, space, "std::");
  }
  for (const std::string_view arguments :
       {"<char, std::char_traits<char>, std::allocator<char> >",
        "<char, std::char_traits<char>, std::allocator<char>>"}) {
    replace_all(text, "std::basic_string" + std::string(arguments), "std::string");
  }
  size_t begin = 0;  // behind the return type
  const std::string_view bare = without_parameters(text);
  if (bare.size() < text.size()) {
    for_each_break(bare, [&](size_t at) {
      if (bare[at] == ' ') begin = at + 1;
    });
  }
  return text.substr(begin < bare.size() ? begin : 0);
}

std::string_view last_part(std::string_view name) {
  const std::string_view bare = without_parameters(name);
  size_t begin = 0;
  for_each_break(bare, [&](size_t at) {
    if (bare.substr(at, 2) == "::") begin = at + 2;
  });
  return name.substr(begin < bare.size() ? begin : 0);
}

std::string shell_word(std::string_view text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("_-./:+=@%,").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

size_t count_columns(std::string_view text) {
  const auto starts = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), starts));
}

std::string pad_left(std::string_view text, size_t width) {
  const size_t columns = count_columns(text);
  return std::string(columns < width ? width - columns : 0, ' ') + std::string(text);
}

std::string pad_right(std::string_view text, size_t width) {
  const size_t columns = count_columns(text);
  return std::string(text) + std::string(columns < width ? width - columns : 0, ' ');
}

std::string expand_tabs(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\t') {
      result.append(8 - count_columns(result) % 8, ' ');
    } else if (c != '\r') {
      result += c;
    }
  }
  return printable(result);
}

std::string wrap(std::string_view text, size_t width, size_t indent) {
  std::string result;
  size_t column = 0;
  while (!text.empty()) {
    const size_t word_at = std::min(text.find_first_not_of(' '), text.size());
    const size_t word_end = std::min(text.find(' ', word_at), text.size());
    const std::string word = elide_columns(text.substr(word_at, word_end - word_at),
                                           width > indent ? width - indent : width);
    const bool fits = column + word_at + count_columns(word) <= width;
    if (column > indent && !fits) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else {
      result.append(word_at, ' ');
      column += word_at;
    }
    result += word;
    column += count_columns(word);
    text.remove_prefix(word_end);
  }
  return result;
}

}  // namespace culprit
