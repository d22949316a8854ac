#include "binary/source_statement.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace culprit {
namespace {

bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_name_part(char c) {
  return is_name_start(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// What follows "for (...)", whose own assignments are none of the statement's.
std::string_view without_loop_heads(std::string_view statement) {
  constexpr std::string_view kFor = "for";
  for (statement = trim(statement); statement.starts_with(kFor); statement = trim(statement)) {
    const std::string_view head = trim(statement.substr(kFor.size()));
    if (!head.starts_with('(')) return statement;
    size_t end = 0;
    int depth = 0;
    do {
      depth += head[end] == '(' ? 1 : head[end] == ')' ? -1 : 0;
    } while (++end < head.size() && depth > 0);
    statement = head.substr(end);
  }
  return statement;
}

/// The next "=" that is not part of another operator; npos: none.
size_t find_assignment(std::string_view statement, size_t from) {
  for (size_t i = from; i + 1 < statement.size(); ++i) {
    if (statement[i] != '=') continue;
    const bool is_other =
        statement[i + 1] == '=' ||
        std::string_view("=!<>+-*/%&|^").find(statement[i - 1]) != std::string_view::npos;
    if (!is_other) return i;
  }
  return std::string_view::npos;
}

/// The name of a type at the beginning, with its arguments: "std::pair<int, int>"; "" if there is
/// none.
std::string_view take_type(std::string_view text) {
  for (const std::string_view word : {"const ", "struct ", "class ", "union "}) {
    text = trim(text);
    if (text.starts_with(word)) text.remove_prefix(word.size());
  }
  text = trim(text);
  if (text.empty() || !is_name_start(text.front())) return {};
  size_t end = 0;
  int depth = 0;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    const bool is_part = depth > 0 || is_name_part(c) || c == ':' || c == '>';
    if (!is_part) break;
  }
  return text.substr(0, end);
}

/// Types that say nothing of what is laid out in the memory.
bool is_plain(std::string_view type) {
  return type == "void" || type == "char" || type == "unsigned" || type == "long" || type == "auto";
}

/// "(struct node *)" before a call.
std::string find_cast(std::string_view statement) {
  for (size_t at = statement.find('('); at != std::string_view::npos;
       at = statement.find('(', at + 1)) {
    const std::string_view inside = statement.substr(at + 1);
    const std::string_view type = take_type(inside);
    if (type.empty() || is_plain(type)) continue;
    const size_t end = static_cast<size_t>(type.data() + type.size() - inside.data());
    const std::string_view rest = trim(inside.substr(end));
    // One asterisk: what two lead to is an array of pointers.
    if (!rest.starts_with('*')) continue;
    const std::string_view behind = trim(rest.substr(1));
    if (behind.starts_with(')') && behind.find('(') != std::string_view::npos) {
      return std::string(type);
    }
  }
  return "";
}

std::string find_behind(std::string_view statement, std::string_view word) {
  for (size_t at = statement.find(word); at != std::string_view::npos;
       at = statement.find(word, at + 1)) {
    if (at > 0 && is_name_part(statement[at - 1])) continue;
    const std::string_view type = take_type(statement.substr(at + word.size()));
    if (!type.empty() && !is_plain(type)) return std::string(type);
  }
  return "";
}

/// The name at the end of a text, with subscripts and members; types before it are no part. "" if
/// there is none.
std::string take_name_before(std::string_view left) {
  left = trim(left);
  // Backwards over subscripts, members and the name that they are of.
  size_t begin = left.size();
  int depth = 0;
  while (begin > 0) {
    const char c = left[begin - 1];
    if (c == ']') ++depth;
    const bool is_part = depth > 0 || is_name_part(c) || c == '.' || c == ']' ||
                         (c == '>' && begin > 1 && left[begin - 2] == '-') ||
                         (c == '-' && begin < left.size() && left[begin] == '>');
    if (!is_part) break;
    if (c == '[') --depth;
    --begin;
  }
  left = left.substr(begin);
  constexpr size_t kLongest = 40;
  const bool is_name = depth == 0 && !left.empty() && is_name_start(left.front());
  return is_name && left.size() <= kLongest ? std::string(left) : "";
}

/// "world.items" of "world.items.resize(n);": a container that is made to hold more.
std::string find_filled(std::string_view statement) {
  constexpr std::string_view kCalls[] = {"resize",      "reserve", "push_back",   "emplace_back",
                                         "push_front",  "assign",  "emplace",     "insert",
                                         "try_emplace", "append",  "emplace_hint"};
  std::string found;
  for (size_t open = statement.find('('); open != std::string_view::npos;
       open = statement.find('(', open + 1)) {
    size_t begin = open;
    while (begin > 0 && is_name_part(statement[begin - 1])) --begin;
    const std::string_view call = statement.substr(begin, open - begin);
    if (std::find(std::begin(kCalls), std::end(kCalls), call) == std::end(kCalls)) continue;
    std::string_view before = statement.substr(0, begin);
    if (before.ends_with("->")) {
      before.remove_suffix(2);
    } else if (before.ends_with('.')) {
      before.remove_suffix(1);
    } else {
      continue;
    }
    if (!found.empty()) return "";  // several: nobody knows which one is meant
    found = take_name_before(before);
  }
  return found;
}

/// "rows" of "std::vector<Row> rows(n);", "{n}": of a type with arguments alone, as a call has
/// none.
std::string find_declared(std::string_view statement) {
  statement = trim(statement);
  const std::string_view type = take_type(statement);
  if (type.empty() || type.back() != '>') return "";
  const std::string_view rest =
      trim(statement.substr(static_cast<size_t>(type.data() + type.size() - statement.data())));
  size_t end = 0;
  while (end < rest.size() && is_name_part(rest[end])) ++end;
  const std::string_view behind = trim(rest.substr(end));
  const bool is_made = behind.starts_with('(') || behind.starts_with('{');
  return is_made ? std::string(rest.substr(0, end)) : "";
}

/// The parts of a text between the separators that are in no brackets.
std::vector<std::string_view> split_outside_brackets(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    if (c != separator || depth != 0) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

bool may_allocate(std::string_view part) {
  return part.find_first_of("({") != std::string_view::npos ||
         part.find("new ") != std::string_view::npos;
}

/// "misses" of "misses(4)", behind the declaration of another variable.
std::string find_declared_next(std::string_view part) {
  part = trim(part);
  const size_t end = part.find_first_of("({");
  const std::string_view name = trim(part.substr(0, std::min(end, part.size())));
  return std::all_of(name.begin(), name.end(), is_name_part) ? std::string(name) : "";
}

/// The arguments of a template at the beginning may have commas.
std::vector<std::string_view> split_declarators(std::string_view statement) {
  statement = trim(statement);
  const std::string_view type = take_type(statement);
  const bool is_template = !type.empty() && type.back() == '>';
  const size_t begin =
      is_template ? static_cast<size_t>(type.data() + type.size() - statement.data()) : 0;
  std::vector<std::string_view> parts = split_outside_brackets(statement.substr(begin), ',');
  parts.front() = statement.substr(0, begin + parts.front().size());
  return parts;
}

}  // namespace

std::string find_assigned(std::string_view statement) {
  statement = without_loop_heads(statement);
  const size_t equals = find_assignment(statement, 1);
  if (equals == std::string_view::npos) {
    const std::string filled = find_filled(statement);
    return filled.empty() ? find_declared(statement) : filled;
  }
  // If there are several, nobody knows which one is meant.
  if (find_assignment(statement, equals + 1) != std::string_view::npos) return "";
  return take_name_before(statement.substr(0, equals));
}

std::vector<std::string> find_all_assigned(std::string_view line) {
  line = line.substr(0, std::min(line.find("//"), line.size()));
  std::vector<std::string> names;
  for (const std::string_view statement : split_outside_brackets(line, ';')) {
    bool declares = false;  // as containers are declared
    for (const std::string_view part : split_declarators(statement)) {
      if (!may_allocate(part)) continue;
      std::string name = find_assigned(part);
      if (name.empty() && declares) name = find_declared_next(part);
      if (name.empty()) return {};
      declares = declares || name == find_declared(part);
      names.push_back(std::move(name));
    }
  }
  return names;
}

std::vector<std::string> find_allocated_names(std::string_view statement) {
  constexpr std::string_view kAllocate = "allocate";
  const std::string lower = to_lower(statement);
  size_t at = lower.find(kAllocate);
  while (at != std::string::npos && at > 0 && is_name_part(lower[at - 1])) {
    at = lower.find(kAllocate, at + 1);
  }
  if (at == std::string::npos) return {};
  std::string_view rest = trim(statement.substr(at + kAllocate.size()));
  if (!rest.starts_with('(')) return {};
  rest.remove_prefix(1);
  std::vector<std::string> names;
  std::string name;
  bool is_name = true;  // of what is read: not a subscript, nor what an option is set to
  int depth = 0;
  for (const char c : rest) {
    if (c == ')' && depth == 0) break;
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth == 0 && c == ',') {
      if (is_name && !name.empty()) names.push_back(name);
      name.clear();
      is_name = true;
    } else if (depth == 0 && c == ':') {
      name.clear();  // "real(8) :: a(n)"
    } else if (depth == 0 && c == '=') {
      is_name = false;
    } else if (depth == 0 && (is_name_part(c) || c == '%')) {
      name += c;
    }
  }
  if (is_name && !name.empty() && depth == 0) names.push_back(name);
  return names;
}

std::string find_allocated_type(std::string_view statement) {
  for (std::string found :
       {find_cast(statement), find_behind(statement, "new "),
        find_behind(statement, "make_unique<"), find_behind(statement, "make_shared<")}) {
    // What is between the brackets of make_unique<...> ends where they do.
    if (!found.empty()) {
      if (std::count(found.begin(), found.end(), '>') >
          std::count(found.begin(), found.end(), '<')) {
        found.pop_back();
      }
      return found;
    }
  }
  return "";
}

}  // namespace culprit
