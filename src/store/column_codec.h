#pragma once

// The column codec: a table of named columns ⇄ bytes, each column in the encoding
// that makes it smallest. Self-describing: a reader takes the columns it knows by
// name and leaves the others, so columns can be added without a new format.
//
//     columns  = count (varint), then each column:
//     column   = name (varint length, bytes), type (u8), encoding (u8),
//                payload (varint length, bytes)
//     encoding = 0 constant     one varint for all rows
//                1 varint       one varint a row (signed numbers zigzag)
//                2 delta        zigzag varints of the differences, the first from 0
//                3 raw          8 bytes a row, little-endian
//                4 product      index of an earlier column, factor (varints):
//                               value = that column's value x factor, modulo 2^64
//                5 text         one varint length a row, then all bytes
//
// docs/format.md describes it for writers of other readers.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace culprit {

enum class ColumnType : uint8_t { u64, i64, f64, text };

struct ColumnSpec {
  std::string_view name;
  ColumnType type = ColumnType::u64;
};

/// One column. Numbers of every type are kept as 64 bits (two's complement, IEEE 754);
/// those of a text column are the lengths of its texts, which are joined in `bytes`.
struct Column {
  std::vector<uint64_t> numbers;
  std::string bytes;
};

/// A decoded column; `numbers` is empty where the data do not have it.
struct DecodedColumn {
  bool present = false;
  bool is_constant = false;  // the first number is that of all rows
  std::vector<uint64_t> numbers;
  std::string_view bytes;  // into the decoded data

  [[nodiscard]] uint64_t number(size_t row) const { return numbers[is_constant ? 0 : row]; }
};

/// `columns` are parallel to `specs`, all of the same number of rows.
std::string encode_columns(std::span<const ColumnSpec> specs, std::span<const Column> columns);

/// The columns named by `specs`, in their order, each with a number for each of `rows`, or absent.
/// Never allocates more than 8 bytes x rows x specs, whatever the bytes say. The memory of `space`,
/// columns decoded before, is used again.
Result<std::vector<DecodedColumn>> decode_columns(std::string_view data, uint64_t rows,
                                                  std::span<const ColumnSpec> specs,
                                                  std::vector<DecodedColumn> space = {});

}  // namespace culprit
