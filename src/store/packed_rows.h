#pragma once

// Rows of the model ⇄ packed bytes, by the fields that the lists of their fields name
// (model/field_list.h):
//
//     rows → columns (column_codec.h) → compressed (packed_bytes.h)

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "store/column_codec.h"
#include "store/field_values.h"
#include "store/file_rows.h"
#include "store/packed_bytes.h"

namespace culprit {

/// Rows in one piece: large enough to compress well, small enough to hold beside the rest.
inline constexpr size_t kRowsPerPiece = size_t{1} << 18;
inline constexpr size_t kMaxRowsPerPiece = size_t{1} << 20;
/// Texts (code, source lines) fill a piece by their size.
inline constexpr size_t kTextBytesPerPiece = size_t{8} << 20;

struct PackedPiece {
  uint64_t rows = 0;
  uint64_t raw_bytes = 0;
  std::string data;
};

template <class Row>
std::vector<ColumnSpec> column_specs() {
  std::vector<ColumnSpec> specs;
  Row row;
  visit_fields([&]<class T>(std::string_view name,
                            T&) { specs.push_back({name, column_type<std::remove_const_t<T>>()}); },
               row);
  return specs;
}

/// Packs rows from the front of `rows`, as many as one piece holds, and takes them off.
template <class Row>
Result<PackedPiece> pack_rows(std::span<const Row>& rows) {
  const std::vector<ColumnSpec> specs = column_specs<Row>();
  std::vector<Column> columns(specs.size());
  for (Column& column : columns) column.numbers.reserve(std::min(rows.size(), kRowsPerPiece));
  size_t taken = 0;
  size_t text_bytes = 0;
  while (taken < rows.size() && taken < kRowsPerPiece && text_bytes < kTextBytesPerPiece) {
    size_t at = 0;
    visit_fields(
        [&]<class T>(std::string_view, const T& field) {
          Column& column = columns[at++];
          if constexpr (std::is_same_v<T, std::string>) {
            column.numbers.push_back(field.size());
            column.bytes += field;
            text_bytes += field.size();
          } else {
            column.numbers.push_back(to_bits(field));
          }
        },
        rows[taken++]);
  }
  rows = rows.subspan(taken);
  const std::string raw = encode_columns(specs, columns);
  ASSIGN_OR_RETURN(std::string data, compress(raw));
  return PackedPiece{taken, raw.size(), std::move(data)};
}

/// Appends the rows of a piece to `out`. The piece may come from anywhere. Who unpacks several
/// pieces keeps the memory that one takes for the next in `space`.
template <class Row>
Result<void> unpack_rows(uint64_t rows, uint64_t raw_bytes, std::string_view data,
                         std::vector<Row>& out, std::vector<DecodedColumn>& space) {
  if (rows > kMaxRowsPerPiece) return Error{"too many rows in one piece"};
  ASSIGN_OR_RETURN(const std::string raw, decompress(data, raw_bytes));
  const std::vector<ColumnSpec> specs = column_specs<Row>();
  ASSIGN_OR_RETURN(std::vector<DecodedColumn> columns,
                   decode_columns(raw, rows, specs, std::move(space)));
  bool good = true;
  const size_t first = out.size();
  out.resize(first + rows);
  for (uint64_t i = 0; i < rows; ++i) {
    size_t at = 0;
    visit_fields(
        [&]<class T>(std::string_view, T& field) {
          DecodedColumn& column = columns[at++];
          if (!column.present) return;  // of an earlier version: the default stays
          const uint64_t number = column.number(i);
          if constexpr (std::is_same_v<T, std::string>) {
            field = column.bytes.substr(0, number);
            column.bytes.remove_prefix(number);
          } else {
            good = from_bits(number, field) && good;
          }
        },
        out[first + i]);
  }
  space = std::move(columns);
  if (!good) return Error{"a number is out of its range"};
  return {};
}

template <class Row>
Result<void> unpack_rows(uint64_t rows, uint64_t raw_bytes, std::string_view data,
                         std::vector<Row>& out) {
  std::vector<DecodedColumn> space;
  return unpack_rows(rows, raw_bytes, data, out, space);
}

}  // namespace culprit
