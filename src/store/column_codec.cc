#include "store/column_codec.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "store/varint.h"

namespace culprit {

namespace {

enum class Encoding : uint8_t { constant, varint, delta, raw, product, text };

constexpr uint64_t kMaxColumns = 64;

// --- encoding -------------------------------------------------------------------------

struct Encoded {
  Encoding encoding = Encoding::constant;
  std::string payload;
};

std::string encode_varints(const Column& column, bool is_signed) {
  std::string out;
  out.reserve(column.numbers.size());
  for (const uint64_t number : column.numbers) {
    put_varint(out, is_signed ? zigzag(number) : number);
  }
  return out;
}

std::string encode_deltas(const Column& column) {
  std::string out;
  out.reserve(column.numbers.size());
  uint64_t last = 0;
  for (const uint64_t number : column.numbers) {
    put_varint(out, zigzag(number - last));
    last = number;
  }
  return out;
}

std::string encode_raw(const Column& column) {
  static_assert(std::endian::native == std::endian::little, "the file is little-endian");
  std::string out(column.numbers.size() * sizeof(uint64_t), '\0');
  if (!out.empty()) std::memcpy(out.data(), column.numbers.data(), out.size());
  return out;
}

bool is_constant(const Column& column) {
  return std::adjacent_find(column.numbers.begin(), column.numbers.end(), std::not_equal_to<>()) ==
         column.numbers.end();
}

/// The factor by which `column` is a multiple of `base` in every row.
std::optional<uint64_t> find_factor(const Column& column, const Column& base) {
  std::optional<uint64_t> factor;
  for (size_t row = 0; row < column.numbers.size(); ++row) {
    const uint64_t number = column.numbers[row];
    const uint64_t divisor = base.numbers[row];
    if (!factor) {
      if (divisor == 0) {
        if (number != 0) return std::nullopt;
        continue;
      }
      factor = number / divisor;
    }
    if (divisor * *factor != number) return std::nullopt;
  }
  return factor;
}

Encoded encode_column(std::span<const ColumnSpec> specs, std::span<const Column> columns,
                      size_t index) {
  const Column& column = columns[index];
  const ColumnType type = specs[index].type;
  Encoded out;
  if (type == ColumnType::text)
    return {Encoding::text, encode_varints(column, false) + column.bytes};
  if (is_constant(column)) {
    if (!column.numbers.empty()) put_varint(out.payload, column.numbers.front());
    return out;
  }
  if (type == ColumnType::f64) return {Encoding::raw, encode_raw(column)};
  if (type == ColumnType::u64) {
    for (size_t base = 0; base < index; ++base) {
      if (specs[base].type != ColumnType::u64 || is_constant(columns[base])) continue;
      if (const std::optional<uint64_t> factor = find_factor(column, columns[base])) {
        put_varint(out.payload, base);
        put_varint(out.payload, *factor);
        out.encoding = Encoding::product;
        return out;
      }
    }
  }
  std::string plain = encode_varints(column, type == ColumnType::i64);
  std::string deltas = encode_deltas(column);
  if (deltas.size() < plain.size()) return {Encoding::delta, std::move(deltas)};
  return {Encoding::varint, std::move(plain)};
}

// --- decoding -------------------------------------------------------------------------

bool decode_varints(std::string_view& in, uint64_t rows, bool is_signed,
                    std::vector<uint64_t>& numbers) {
  if (in.size() < rows) return false;  // each takes a byte at least
  numbers.resize(rows);
  for (uint64_t& number : numbers) {
    if (!take_varint(in, number)) return false;
    if (is_signed) number = unzigzag(number);
  }
  return true;
}

bool decode_deltas(std::string_view& in, uint64_t rows, std::vector<uint64_t>& numbers) {
  if (!decode_varints(in, rows, true, numbers)) return false;
  uint64_t last = 0;
  for (uint64_t& number : numbers) number = last += number;
  return true;
}

bool decode_constant(std::string_view& in, uint64_t rows, DecodedColumn& column) {
  column.is_constant = true;
  column.numbers.assign(rows == 0 ? 0 : 1, 0);
  return rows == 0 || take_varint(in, column.numbers.front());
}

bool decode_raw(std::string_view& in, uint64_t rows, std::vector<uint64_t>& numbers) {
  if (in.size() / sizeof(uint64_t) < rows) return false;
  numbers.resize(rows);
  const size_t size_bytes = rows * sizeof(uint64_t);
  if (size_bytes != 0) std::memcpy(numbers.data(), in.data(), size_bytes);
  in.remove_prefix(size_bytes);
  return true;
}

bool decode_text(std::string_view& in, uint64_t rows, DecodedColumn& column) {
  if (!decode_varints(in, rows, false, column.numbers)) return false;
  column.bytes = in;
  for (const uint64_t length : column.numbers) {
    if (length > in.size()) return false;
    in.remove_prefix(length);
  }
  return true;
}

/// A column as it stands in the data, before its payload is looked at.
struct Header {
  std::string_view name;
  uint8_t type = 0;
  uint8_t encoding = 0;
  std::string_view payload;
};

bool take_sized(std::string_view& in, std::string_view& out) {
  uint64_t length = 0;
  if (!take_varint(in, length) || length > in.size()) return false;
  out = in.substr(0, length);
  in.remove_prefix(length);
  return true;
}

bool take_header(std::string_view& in, Header& header) {
  if (!take_sized(in, header.name) || in.size() < 2) return false;
  header.type = static_cast<uint8_t>(in[0]);
  header.encoding = static_cast<uint8_t>(in[1]);
  in.remove_prefix(2);
  return take_sized(in, header.payload);
}

bool decode_payload(const Header& header, uint64_t rows,
                    std::span<const DecodedColumn* const> earlier, DecodedColumn& column) {
  const auto encoding = static_cast<Encoding>(header.encoding);
  const auto type = static_cast<ColumnType>(header.type);
  if ((type == ColumnType::text) != (encoding == Encoding::text)) return false;
  std::string_view in = header.payload;
  switch (encoding) {
    case Encoding::constant:
      return decode_constant(in, rows, column) && in.empty();
    case Encoding::varint:
      return decode_varints(in, rows, type == ColumnType::i64, column.numbers) && in.empty();
    case Encoding::delta:
      return decode_deltas(in, rows, column.numbers) && in.empty();
    case Encoding::raw:
      return decode_raw(in, rows, column.numbers) && in.empty();
    case Encoding::text:
      return decode_text(in, rows, column) && in.empty();
    case Encoding::product: {
      uint64_t base = 0;
      uint64_t factor = 0;
      if (!take_varint(in, base) || !take_varint(in, factor) || !in.empty()) return false;
      if (base >= earlier.size() || earlier[base] == nullptr) return false;
      column.is_constant = earlier[base]->is_constant;
      column.numbers = earlier[base]->numbers;
      for (uint64_t& number : column.numbers) number *= factor;
      return true;
    }
  }
  return false;
}

}  // namespace

std::string encode_columns(std::span<const ColumnSpec> specs, std::span<const Column> columns) {
  CHECK(specs.size() == columns.size() && specs.size() <= kMaxColumns);
  std::string out;
  put_varint(out, columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    CHECK(columns[i].numbers.size() == columns[0].numbers.size());
    const Encoded encoded = encode_column(specs, columns, i);
    put_varint(out, specs[i].name.size());
    out += specs[i].name;
    out += static_cast<char>(specs[i].type);
    out += static_cast<char>(encoded.encoding);
    put_varint(out, encoded.payload.size());
    out += encoded.payload;
  }
  return out;
}

Result<std::vector<DecodedColumn>> decode_columns(std::string_view data, uint64_t rows,
                                                  std::span<const ColumnSpec> specs,
                                                  std::vector<DecodedColumn> space) {
  std::vector<DecodedColumn> columns = std::move(space);
  columns.resize(specs.size());
  for (DecodedColumn& column : columns) column = {false, false, std::move(column.numbers), {}};
  uint64_t count = 0;
  if (!take_varint(data, count) || count > kMaxColumns) return Error{"bad number of columns"};
  std::vector<const DecodedColumn*> by_position(count, nullptr);
  for (uint64_t i = 0; i < count; ++i) {
    Header header;
    if (!take_header(data, header)) return Error{fmt::format("column {} is cut off", i)};
    const auto spec = std::find_if(specs.begin(), specs.end(), [&](const ColumnSpec& wanted) {
      return wanted.name == header.name;
    });
    if (spec == specs.end()) continue;  // of a later version
    DecodedColumn& column = columns[static_cast<size_t>(spec - specs.begin())];
    if (column.present) return Error{fmt::format("column '{}' comes twice", spec->name)};
    if (header.type != static_cast<uint8_t>(spec->type) ||
        !decode_payload(header, rows, std::span(by_position).first(i), column)) {
      return Error{fmt::format("column '{}' is damaged", spec->name)};
    }
    column.present = true;
    by_position[i] = &column;
  }
  if (!data.empty()) return Error{"bytes after the last column"};
  for (DecodedColumn& column : columns) {
    if (!column.present) column.numbers.clear();
  }
  return columns;
}

}  // namespace culprit
