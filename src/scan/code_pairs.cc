#include "scan/code_pairs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "scan/place_table.h"
#include "scan/print_answer.h"

namespace culprit::scan {
namespace {

/// Longer stretches stand beside each other as they come.
constexpr size_t kMostAligned = 600;
constexpr size_t kCountWidth = 6;

double executions_of(const std::vector<CodeLine>& lines) {
  double sum = 0;
  for (const CodeLine& one : lines) sum += one.executions;
  return sum;
}

/// The words of a text with one blank between them.
std::string squeeze(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const char one = c == '\t' ? ' ' : c;
    if (one != ' ' || (!out.empty() && out.back() != ' ')) out += one;
  }
  return out;
}

std::string mnemonic(const CodeLine& line) {
  return line.text.substr(0, line.text.find(' '));
}

/// Rows of one table; SIZE_MAX: that side has nothing there.
using RowPairs = std::vector<std::pair<size_t, size_t>>;

/// The longest sequence of equal mnemonics stands in common rows; what lies between is put side by
/// side from its beginning.
RowPairs align(const std::vector<CodeLine>& a, const std::vector<CodeLine>& b) {
  RowPairs rows;
  const auto add_between = [&](size_t from_a, size_t to_a, size_t from_b, size_t to_b) {
    while (from_a < to_a || from_b < to_b) {
      rows.emplace_back(from_a < to_a ? from_a++ : SIZE_MAX, from_b < to_b ? from_b++ : SIZE_MAX);
    }
  };
  if (a.size() > kMostAligned || b.size() > kMostAligned) {
    add_between(0, a.size(), 0, b.size());
    return rows;
  }
  std::vector<std::string> of_b;
  for (const CodeLine& line : b) of_b.push_back(mnemonic(line));
  const size_t columns = b.size() + 1;
  std::vector<uint32_t> common((a.size() + 1) * columns);
  const auto at = [&](size_t i, size_t j) -> uint32_t& { return common[i * columns + j]; };
  std::vector<std::string> of_a;
  for (const CodeLine& line : a) of_a.push_back(mnemonic(line));
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      at(i, j) = of_a[i] == of_b[j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
    }
  }
  size_t i = 0;
  size_t j = 0;
  size_t from_a = 0;
  size_t from_b = 0;
  while (i < a.size() && j < b.size()) {
    if (of_a[i] == of_b[j]) {
      add_between(from_a, i, from_b, j);
      rows.emplace_back(i++, j++);
      from_a = i;
      from_b = j;
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      ++i;
    } else {
      ++j;
    }
  }
  add_between(from_a, a.size(), from_b, b.size());
  return rows;
}

std::string half(const std::vector<CodeLine>& lines, size_t row, size_t width) {
  if (row == SIZE_MAX) return std::string(width, ' ');
  const std::string count = format_cost({lines[row].executions, 0});
  const size_t left = std::max(kCountWidth, count.size());
  const std::string text = elide_middle(printable(lines[row].text), width - left - 2);
  return pad_right(pad_left(count, left) + "  " + text, width);
}

}  // namespace

std::vector<CodePair> pair_code(const CellCosts& a, const CellCosts& b, CodeIndex& code) {
  std::vector<CodePair> pairs;
  const size_t instructions = find_event(code.profile(), "instructions");
  for (int side = 0; side < 2; ++side) {
    const PlaceTable table = make_place_table(side == 0 ? a : b, code, PlaceLevel::instruction);
    for (const PlaceRow& row : table.rows) {
      auto pair = std::find_if(pairs.begin(), pairs.end(),
                               [&](const CodePair& one) { return one.line == row.line; });
      if (pair == pairs.end()) {
        pairs.push_back({row.line, row.source, {}, {}});
        pair = pairs.end() - 1;
      }
      (side == 0 ? pair->a : pair->b)
          .push_back({row.name, squeeze(row.detail), row.per_iteration[instructions].value});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const CodePair& x, const CodePair& y) {
    return std::abs(executions_of(x.a) - executions_of(x.b)) >
           std::abs(executions_of(y.a) - executions_of(y.b));
  });
  return pairs;
}

std::string print_code_pairs(const std::vector<CodePair>& pairs, size_t limit,
                             const TextStyle& style) {
  if (pairs.empty()) return "";
  const size_t width = (style.width - 3) / 2;
  std::string out = "\n" +
                    pad_right(pad_left("A", kCountWidth) + "  executed in an iteration", width) +
                    " | " + pad_left("B", kCountWidth) + "\n";
  size_t rows = 0;
  size_t left_out = 0;
  for (const CodePair& pair : pairs) {
    const RowPairs aligned = align(pair.a, pair.b);
    size_t begin = 0;
    if (limit == 0 || rows < limit) {
      out += elide_middle(printable(pair.line.empty() ? "(no line)" : pair.line) +
                              (pair.source.empty() ? "" : "   " + printable(pair.source)),
                          style.width) +
             "\n";
      for (; begin < aligned.size() && (limit == 0 || rows < limit); ++begin, ++rows) {
        std::string line = half(pair.a, aligned[begin].first, width) + " | " +
                           half(pair.b, aligned[begin].second, width);
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
      }
    }
    left_out += aligned.size() - begin;
  }
  if (left_out > 0) out += fmt::format("({} more rows: --limit 0)\n", left_out);
  return out;
}

}  // namespace culprit::scan
