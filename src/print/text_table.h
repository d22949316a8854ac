#pragma once

// TextTable: columns of text that fit a width. Numbers keep their width; flexible
// columns (names) take what they need up to a fair share of the rest.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace culprit {

struct TextColumn {
  using Fit = std::string (*)(const std::string& cell, size_t width);

  std::string heading;
  bool right = false;  // aligned right
  Fit fit = nullptr;   // shortens a cell to a width; nullptr: the column keeps its width
  size_t gap = 2;      // blanks before it
  std::vector<std::string> cells;
  size_t enough = SIZE_MAX;  // where room is short, a flexible column takes no more
};

/// What the columns take where there is room for all, each with its gap.
size_t width_of_columns(const std::vector<TextColumn>& columns);

/// The heading and the rows, each a line without blanks at its end. No line is wider
/// than `width` unless the columns that keep their width are, or there are more than two
/// flexible ones: those never become too narrow to read.
std::string print_table(std::vector<TextColumn> columns, size_t width);

}  // namespace culprit
