#pragma once

// What rows must fulfil so that everybody else may use a profile without checking: ids
// name rows that exist (or are "all" where profile.h leaves that open), parents come
// before their children, floating-point numbers are finite, sums fit into 64 bits.
//
// Used by the reader, because files may come from strangers, and by the writer, because
// a file that cannot be read back must not be written.

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "model/tables.h"
#include "store/field_values.h"

namespace culprit {

/// What a row needs beside the ids that it has to have; `index` is its own row number.
template <class Row>
bool is_sound(const Row& row, size_t index) {
  if constexpr (requires { row.parent; }) {
    return row.parent.is_all() || row.parent.value < index;
  }
  return true;
}
inline bool is_sound(const FallThrough& row, size_t) {
  return row.from <= row.to;
}

/// Sums of the totals of a row's kind, in the order of the fields.
using FieldSums = std::array<uint64_t, 16>;

/// Checks rows whose first has the number `first`; the message names the offender. `sums`: of the
/// rows before them, and then of these, too.
template <class Row>
Result<void> check_rows(std::string_view table, std::span<const Row> rows, const TableSizes& sizes,
                        size_t first, FieldSums& sums) {
  for (size_t i = 0; i < rows.size(); ++i) {
    std::string_view bad;
    size_t at = 0;
    visit_fields(
        [&]<class R, class T>(const R& role, const T& field) {
          if constexpr (kIsId<T>) {
            if (names_row(field) && field.value >= sizes.of(field)) bad = role;
            if (std::is_same_v<R, NeededId> && !names_row(field)) bad = role;
          } else if constexpr (std::is_same_v<T, double>) {
            if (!std::isfinite(field)) bad = role;
            if (std::is_same_v<R, Variance> && field < 0) bad = role;
          } else if constexpr (std::is_same_v<R, Total>) {
            uint64_t& sum = sums[at++];
            sum += field;
            if (sum < field) bad = role;
          }
        },
        rows[i]);
    if (bad.empty() && !is_sound(rows[i], first + i)) bad = "one of its ids";
    if (!bad.empty()) {
      return Error{fmt::format("row {} of '{}': '{}' is out of range", first + i, table, bad)};
    }
  }
  return {};
}

template <class Row>
Result<void> check_rows(std::string_view table, std::span<const Row> rows, const TableSizes& sizes,
                        size_t first = 0) {
  FieldSums sums{};
  return check_rows(table, rows, sizes, first, sums);
}

/// Checks rows that were read from the file `path`.
template <class Row>
Result<void> check_read(const std::string& path, std::string_view table,
                        const std::vector<Row>& rows, const TableSizes& sizes) {
  if (const Result<void> good = check_rows(table, std::span<const Row>(rows), sizes); !good) {
    return Error{in_quotes(path) + " is damaged: " + good.error().message, ErrorKind::damaged};
  }
  return {};
}

}  // namespace culprit
