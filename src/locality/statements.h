#pragma once

// Statements: which row of an answer a location in code belongs to, and what the row is called.
//
//     Statements statements(code, LocalityBy::statement);
//     const uint32_t row = statements.row_of(location);     // made when first seen
//     statements.spot(row).label()                          // "quake.c:512", "quake.c:57-58"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attribute/code_index.h"
#include "attribute/source_statements.h"
#include "base/file_lines.h"
#include "report/row_key.h"

namespace culprit {

/// How finely code is told apart. `statement`: lines that are one statement are one row, where
/// their text is known. `column`: the accesses of one line, where debug information has columns.
enum class LocalityBy : uint8_t { module, function, statement, line, column, instruction };
const char* by_word(LocalityBy by);

/// What a row is called; only what its level makes meaningful is set.
struct CodeSpot {
  std::string module;
  std::string function;    // "" where it is not known, and of modules
  std::string file;        // "" where no line is known
  uint32_t line = 0;       // of a statement its first
  uint32_t last_line = 0;  // of a statement; else the same
  uint32_t column = 0;
  std::optional<uint64_t> address;  // link address of an instruction

  /// "quake.c:512", "quake.c:57-58", "quake.c:512:13", "12a4 quake.c:512", a function, a module.
  [[nodiscard]] std::string label() const;
};

class Statements {
 public:
  /// `code` must outlive it.
  Statements(CodeIndex& code, LocalityBy by);

  uint32_t row_of(const Location& at);
  [[nodiscard]] size_t size() const { return spots_.size(); }
  [[nodiscard]] const CodeSpot& spot(uint32_t row) const { return spots_[row]; }

 private:
  CodeSpot describe(const Location& at);

  CodeIndex& code_;
  LocalityBy by_;
  RowKeys keys_;
  SourceStatements spans_;
  std::unordered_map<Location, uint32_t> known_;
  std::unordered_map<std::string, uint32_t> named_;
  std::vector<CodeSpot> spots_;
};

/// A part of the code, as people name it: "quake.c:512", "smvp", a pattern.
class CodePart {
 public:
  /// `words`: a function, "FILE:LINE" or "FILE:FIRST-LAST". A line stands for the statement that it
  /// is of, unless lines are told apart.
  CodePart(CodeIndex& code, std::string words, LocalityBy by = LocalityBy::statement);

  /// Whether the instruction is of those lines, or in the function, what is inlined there included.
  bool holds(const Location& at);
  [[nodiscard]] bool is_line() const { return lines_.has_value(); }
  /// What was asked for, with the lines of the statements that it stands for, as far as holds() has
  /// met them.
  [[nodiscard]] std::string name() const;
  /// The error of a part that holds nothing: with the nearest name there is.
  [[nodiscard]] Error not_found() const;

 private:
  bool find(const Location& at);

  CodeIndex& code_;
  std::string words_;
  std::optional<FileLines> lines_;  // none: a function
  bool tells_lines_;
  LineSpan met_;  // first 0: nothing yet
  SourceStatements spans_;
  std::unordered_map<Location, bool> known_;
  std::vector<std::string> names_;  // seen, for the error
};

}  // namespace culprit
