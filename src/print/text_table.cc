#include "print/text_table.h"

#include <algorithm>

#include "base/names.h"

namespace culprit {

namespace {

constexpr size_t kNarrowest = 4;
constexpr size_t kNarrowestOfMany = 12;  // of three flexible columns or more

/// What the widest cell of each column takes, or enough of it.
std::vector<size_t> natural_widths(const std::vector<TextColumn>& columns, bool room_is_short) {
  std::vector<size_t> widths;
  for (const TextColumn& column : columns) {
    size_t widest = count_columns(column.heading);
    for (const std::string& cell : column.cells) widest = std::max(widest, count_columns(cell));
    const bool gives_way = room_is_short && column.fit != nullptr;
    widths.push_back(gives_way ? std::min(widest, column.enough) : widest);
  }
  return widths;
}

size_t sum_widths(const std::vector<TextColumn>& columns, const std::vector<size_t>& widths) {
  size_t sum = 0;
  for (size_t i = 0; i < columns.size(); ++i) sum += widths[i] + (i == 0 ? 0 : columns[i].gap);
  return sum;
}

/// Narrow columns first: each takes what it needs, at most an equal share of what the
/// ones before it left.
std::vector<size_t> column_widths(const std::vector<TextColumn>& columns, size_t width) {
  std::vector<size_t> widths = natural_widths(columns, false);
  if (sum_widths(columns, widths) <= width) return widths;
  widths = natural_widths(columns, true);
  std::vector<size_t> flexible;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].fit != nullptr) flexible.push_back(i);
  }
  std::sort(flexible.begin(), flexible.end(), [&](size_t a, size_t b) {
    return widths[a] != widths[b] ? widths[a] < widths[b] : a < b;
  });
  std::vector<size_t> fixed = widths;
  for (const size_t i : flexible) fixed[i] = 0;
  const size_t taken = sum_widths(columns, fixed);
  size_t room = taken < width ? width - taken : 0;
  const size_t narrowest = flexible.size() > 2 ? kNarrowestOfMany : kNarrowest;
  for (size_t k = 0; k < flexible.size(); ++k) {
    const size_t share = std::max(room / (flexible.size() - k), narrowest);
    size_t& taken_here = widths[flexible[k]];
    taken_here = std::min(taken_here, share);
    room -= std::min(room, taken_here);
  }
  return widths;
}

void print_line(const std::vector<TextColumn>& columns, const std::vector<size_t>& widths,
                const std::function<std::string(const TextColumn&, size_t)>& cell_of,
                std::string& text) {
  std::string line;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) line.append(columns[i].gap, ' ');
    const std::string cell = cell_of(columns[i], widths[i]);
    line += columns[i].right ? pad_left(cell, widths[i]) : pad_right(cell, widths[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + "\n";
}

}  // namespace

size_t width_of_columns(const std::vector<TextColumn>& columns) {
  const std::vector<size_t> widths = natural_widths(columns, false);
  return sum_widths(columns, widths) + (columns.empty() ? 0 : columns.front().gap);
}

std::string print_table(std::vector<TextColumn> columns, size_t width) {
  const std::vector<size_t> widths = column_widths(columns, width);
  std::string text;
  print_line(
      columns, widths,
      [](const TextColumn& column, size_t room) {
        return column.fit == nullptr ? column.heading : shorten_name(column.heading, room);
      },
      text);
  const size_t rows = columns.empty() ? 0 : columns.front().cells.size();
  for (size_t row = 0; row < rows; ++row) {
    print_line(
        columns, widths,
        [row](const TextColumn& column, size_t room) {
          const std::string& cell = column.cells[row];
          return column.fit == nullptr ? cell : column.fit(cell, room);
        },
        text);
  }
  return text;
}

}  // namespace culprit
