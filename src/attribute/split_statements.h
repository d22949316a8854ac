#pragma once

// Lines of source text → the statements that need several of them. A compiler writes the line of
// each part of a statement into debug information; who reads wants the statement.
//
//     57:   w[i] = a[i] * b[i]        → lines 57 to 58 are one statement
//     58:        + c[i];
//
// The text is split by its punctuation, not parsed: macros may hide some of it. Statements that
// share a line are one, as by lines they cannot be told apart. The head of a loop or of a function
// is a statement of its own.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace culprit {

enum class SourceSyntax : uint8_t {
  lines,          // not known: each line is by itself
  braces,         // C, C++, Rust, D: statements end with ; { and }
  free_fortran,   // continued by & at the end of a line
  fixed_fortran,  // continued by a mark in the sixth column
};

/// By the name's ending.
SourceSyntax find_syntax(std::string_view file);

struct LineSpan {
  uint32_t first = 0;
  uint32_t last = 0;
  friend bool operator==(const LineSpan&, const LineSpan&) = default;
};

/// Statements of more than one line, in order, none overlapping another. What seems to need more
/// than 60 is none: something was misunderstood.
/// Units:  lines are numbered from `first_line`
std::vector<LineSpan> split_statements(std::span<const std::string> lines, uint32_t first_line,
                                       SourceSyntax syntax);

}  // namespace culprit
