#include "attribute/split_statements.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace culprit {
namespace {

constexpr uint32_t kMostLines = 60;

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Spans in the order of their ends → those of several lines; spans that share a line are one.
class Spans {
 public:
  void add(uint32_t first, uint32_t last) {
    while (!spans_.empty() && spans_.back().last >= first) {
      first = std::min(first, spans_.back().first);
      last = std::max(last, spans_.back().last);
      spans_.pop_back();
    }
    spans_.push_back({first, last});
  }

  std::vector<LineSpan> take() {
    std::erase_if(spans_, [](const LineSpan& span) {
      return span.first == span.last || span.last - span.first >= kMostLines;
    });
    return std::move(spans_);
  }

 private:
  std::vector<LineSpan> spans_;
};

/// Statements of languages with braces. Comments, texts and lines of the preprocessor are passed
/// over; a brace begins anew what parentheses are open.
class BraceSplitter {
 public:
  explicit BraceSplitter(Spans& spans) : spans_(spans) {}

  void read(std::string_view text, uint32_t line) {
    line_ = line;
    const size_t first = text.find_first_not_of(" \t\r");
    const bool is_directive = continues_directive_ || (!in_comment_ && raw_end_.empty() &&
                                                       first != text.npos && text[first] == '#');
    continues_directive_ = is_directive && text.ends_with('\\');
    if (is_directive) return;
    for (size_t at = 0; at < text.size();) at = read_token(text, at);
  }

  void finish() {
    if (begin_) end_statement();
  }

 private:
  /// Reads what begins at `at`; returns where the next token begins.
  size_t read_token(std::string_view text, size_t at) {
    if (in_comment_) return skip_to(text, at, "*/", [this] { in_comment_ = false; });
    if (!raw_end_.empty()) return skip_to(text, at, raw_end_, [this] { raw_end_.clear(); });
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("//")) return text.size();
    if (rest.starts_with("/*")) {
      in_comment_ = true;
      return at + 2;
    }
    const char c = text[at];
    if (std::isspace(static_cast<unsigned char>(c)) != 0) return at + 1;
    if (is_word_char(c)) return read_word(text, at);
    if (c == '"') return begin_token(), skip_text(text, at);
    if (c == '\'') return begin_token(), skip_character(text, at);
    read_mark(c);
    return at + 1;
  }

  template <class Found>
  static size_t skip_to(std::string_view text, size_t at, std::string_view end, Found found) {
    const size_t where = text.find(end, at);
    if (where == text.npos) return text.size();
    const size_t behind = where + end.size();
    found();
    return behind;
  }

  size_t read_word(std::string_view text, size_t at) {
    size_t end = at;
    // 1'000 is one number.
    while (end < text.size() && (is_word_char(text[end]) || is_separator(text, end))) ++end;
    const std::string_view word = text.substr(at, end - at);
    if (end < text.size() && text[end] == '"' && word.ends_with('R')) {
      begin_token();
      return begin_raw_text(text, end);
    }
    if (!begin_) first_word_ = word;
    begin_token();
    static constexpr std::array<std::string_view, 3> kAlone = {"else", "do", "try"};
    if (first_word_ == word && depth_ == 0 && is_one_of(word, kAlone)) end_statement();
    return end;
  }

  static bool is_separator(std::string_view text, size_t at) {
    return text[at] == '\'' && at > 0 && at + 1 < text.size() &&
           std::isxdigit(static_cast<unsigned char>(text[at - 1])) != 0 &&
           std::isxdigit(static_cast<unsigned char>(text[at + 1])) != 0;
  }

  /// R"end( ... )end"
  size_t begin_raw_text(std::string_view text, size_t quote) {
    const size_t open = text.find('(', quote);
    if (open == text.npos) return text.size();
    raw_end_ = ")" + std::string(text.substr(quote + 1, open - quote - 1)) + "\"";
    return open + 1;
  }

  static size_t skip_text(std::string_view text, size_t at) {
    for (++at; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] == '\\') ++at;
    }
    return std::min(at + 1, text.size());
  }

  /// 'x' and '\x41', but not the name of a lifetime.
  static size_t skip_character(std::string_view text, size_t at) {
    const bool is_escaped = at + 1 < text.size() && text[at + 1] == '\\';
    const size_t end = text.find('\'', at + (is_escaped ? 3 : 2));
    const bool is_character = end != text.npos && (is_escaped || end - at <= 5);
    return is_character ? end + 1 : at + 1;
  }

  void read_mark(char c) {
    switch (c) {
      case '(':
      case '[':
        begin_token();
        ++depth_;
        return;
      case ')':
      case ']':
        if (depth_ > 0) --depth_;
        if (c == ')' && depth_ == 0 && begin_ && is_head()) end_statement();
        return;
      case '{':
        if (begin_) end_statement();
        outer_.push_back(depth_);
        depth_ = 0;
        return;
      case '}':
        if (begin_) end_statement();
        depth_ = outer_.empty() ? 0 : outer_.back();
        if (!outer_.empty()) outer_.pop_back();
        return;
      case ';':
        if (depth_ == 0 && begin_) end_statement();
        return;
      case ':':
        if (depth_ == 0 && begin_ && is_label()) end_statement();
        return;
      default:
        begin_token();
    }
  }

  /// What is behind the parentheses is a statement of its own.
  [[nodiscard]] bool is_head() const {
    static constexpr std::array<std::string_view, 5> kHeads = {"if", "for", "while", "switch",
                                                               "catch"};
    return is_one_of(first_word_, kHeads);
  }
  [[nodiscard]] bool is_label() const {
    static constexpr std::array<std::string_view, 5> kLabels = {"case", "default", "public",
                                                                "private", "protected"};
    return is_one_of(first_word_, kLabels);
  }

  void begin_token() {
    if (!begin_) begin_ = line_;
  }
  void end_statement() {
    spans_.add(*begin_, line_);
    begin_.reset();
    first_word_ = {};
  }

  Spans& spans_;
  uint32_t line_ = 0;
  std::optional<uint32_t> begin_;  // of the statement that is read
  std::string_view first_word_;    // of it; "": it begins with something else
  uint32_t depth_ = 0;             // of parentheses within the innermost braces
  std::vector<uint32_t> outer_;    // of the braces around them
  bool in_comment_ = false;
  bool continues_directive_ = false;
  std::string raw_end_;  // of the raw text that is read
};

/// A line of free Fortran without its comment.
std::string_view without_comment(std::string_view text) {
  char quote = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '!') {
      return text.substr(0, at);
    }
  }
  return text;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r") == text.npos;
}

void split_free_fortran(std::span<const std::string> lines, uint32_t first_line, Spans& spans) {
  std::optional<uint32_t> begin;
  for (size_t row = 0; row < lines.size(); ++row) {
    const std::string_view text = without_comment(lines[row]);
    if (is_blank(text)) continue;
    const auto line = first_line + static_cast<uint32_t>(row);
    if (!begin) begin = line;
    if (text[text.find_last_not_of(" \t\r")] == '&') continue;
    spans.add(*begin, line);
    begin.reset();
  }
}

bool is_fixed_comment(std::string_view text) {
  return is_blank(text) || std::string_view("cC*!dD").find(text.front()) != std::string_view::npos;
}

void split_fixed_fortran(std::span<const std::string> lines, uint32_t first_line, Spans& spans) {
  std::optional<LineSpan> statement;
  for (size_t row = 0; row < lines.size(); ++row) {
    const std::string_view text = lines[row];
    if (is_fixed_comment(text)) continue;
    const auto line = first_line + static_cast<uint32_t>(row);
    const bool is_continued =
        text.size() > 5 && text.substr(0, 5) == "     " && text[5] != ' ' && text[5] != '0';
    if (is_continued && statement) {
      statement->last = line;
      continue;
    }
    if (statement) spans.add(statement->first, statement->last);
    statement = LineSpan{line, line};
  }
  if (statement) spans.add(statement->first, statement->last);
}

}  // namespace

SourceSyntax find_syntax(std::string_view file) {
  static constexpr std::array<std::string_view, 18> kBraces = {
      "c",   "h",   "cc",  "cpp", "cxx", "c++", "C",  "hh", "hpp",
      "hxx", "inc", "ipp", "tcc", "cu",  "m",   "rs", "d",  "inl"};
  static constexpr std::array<std::string_view, 6> kFree = {"f90", "f95", "f03",
                                                            "f08", "F90", "F95"};
  static constexpr std::array<std::string_view, 5> kFixed = {"f", "F", "for", "f77", "ftn"};
  const size_t dot = file.find_last_of("./");
  if (dot == file.npos || file[dot] == '/') return SourceSyntax::lines;
  const std::string_view ending = file.substr(dot + 1);
  if (is_one_of(ending, kBraces)) return SourceSyntax::braces;
  if (is_one_of(ending, kFree)) return SourceSyntax::free_fortran;
  if (is_one_of(ending, kFixed)) return SourceSyntax::fixed_fortran;
  return SourceSyntax::lines;
}

std::vector<LineSpan> split_statements(std::span<const std::string> lines, uint32_t first_line,
                                       SourceSyntax syntax) {
  Spans spans;
  switch (syntax) {
    case SourceSyntax::lines:
      break;
    case SourceSyntax::braces: {
      BraceSplitter splitter(spans);
      for (size_t row = 0; row < lines.size(); ++row) {
        splitter.read(lines[row], first_line + static_cast<uint32_t>(row));
      }
      splitter.finish();
      break;
    }
    case SourceSyntax::free_fortran:
      split_free_fortran(lines, first_line, spans);
      break;
    case SourceSyntax::fixed_fortran:
      split_fixed_fortran(lines, first_line, spans);
      break;
  }
  return spans.take();
}

}  // namespace culprit
