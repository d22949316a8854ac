#include "store/column_codec.h"

#include <bit>
#include <gtest/gtest.h>
#include <limits>
#include <random>

#include "store/varint.h"

namespace culprit {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

std::vector<uint64_t> numbers_of(const DecodedColumn& column, size_t rows) {
  std::vector<uint64_t> numbers;
  for (size_t row = 0; row < rows; ++row) numbers.push_back(column.number(row));
  return numbers;
}

std::vector<uint64_t> round_trip(ColumnType type, const std::vector<uint64_t>& numbers) {
  const ColumnSpec spec{"n", type};
  const Column column{numbers, ""};
  const std::string data = encode_columns({&spec, 1}, {&column, 1});
  const auto decoded = decode_columns(data, numbers.size(), {&spec, 1});
  EXPECT_TRUE(decoded);
  return decoded ? numbers_of((*decoded)[0], numbers.size()) : std::vector<uint64_t>();
}

/// Bytes of a column's payload: data less count, name length, name, type, encoding, length.
size_t payload_bytes(ColumnType type, const std::vector<uint64_t>& numbers) {
  const ColumnSpec spec{"n", type};
  const Column column{numbers, ""};
  return encode_columns({&spec, 1}, {&column, 1}).size() - 6;
}

TEST(Varint, FollowsTheWellKnownExamples) {
  // https://protobuf.dev/programming-guides/encoding/: 150 is 96 01; -1 zigzag is 1.
  std::string out;
  put_varint(out, 150);
  EXPECT_EQ(out, "\x96\x01");
  EXPECT_EQ(zigzag(static_cast<uint64_t>(-1)), 1u);
  EXPECT_EQ(zigzag(1), 2u);
  EXPECT_EQ(zigzag(0x7fffffff), 4294967294u);
  EXPECT_EQ(unzigzag(zigzag(kMax - 5)), kMax - 5);
}

TEST(Varint, RefusesWhatExceeds64BitsOrEnds) {
  uint64_t value = 0;
  std::string_view ten("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
  EXPECT_TRUE(take_varint(ten, value));
  EXPECT_EQ(value, kMax);
  std::string_view large("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10);
  EXPECT_FALSE(take_varint(large, value));
  std::string_view cut("\x80", 1);
  EXPECT_FALSE(take_varint(cut, value));
}

TEST(ColumnCodec, GivesBackExtremesInEveryType) {
  const std::vector<uint64_t> numbers = {0, 1, kMax, kMax / 2, kMax / 2 + 1, 127, 128, 0};
  for (const ColumnType type : {ColumnType::u64, ColumnType::i64, ColumnType::f64}) {
    EXPECT_EQ(round_trip(type, numbers), numbers);
    EXPECT_EQ(round_trip(type, {}), std::vector<uint64_t>());
    EXPECT_EQ(round_trip(type, {kMax}), std::vector<uint64_t>{kMax});
  }
}

TEST(ColumnCodec, PicksTheEncodingByTheNumbers) {
  EXPECT_EQ(payload_bytes(ColumnType::u64, std::vector<uint64_t>(1000, 5)), 1u);  // constant
  std::vector<uint64_t> ascending;
  for (uint64_t i = 0; i < 100; ++i) ascending.push_back((1 << 20) + i * 4);
  EXPECT_EQ(payload_bytes(ColumnType::u64, ascending), 4u + 99u);   // first 2^21 zigzag: 4 bytes
  EXPECT_EQ(payload_bytes(ColumnType::u64, {100, 0, 100, 0}), 4u);  // varints; deltas take 7
}

TEST(ColumnCodec, AMultipleOfAnotherColumnCostsAFewBytes) {
  const std::vector<ColumnSpec> specs = {{"samples", ColumnType::u64}, {"value", ColumnType::u64}};
  std::vector<Column> columns(2);
  for (uint64_t i = 0; i < 100; ++i) {
    columns[0].numbers.push_back(i % 7);  // 0 too
    columns[1].numbers.push_back(i % 7 * 1001003);
  }
  const std::string both = encode_columns(specs, columns);
  const std::string one = encode_columns({specs.data(), 1}, {columns.data(), 1});
  EXPECT_EQ(both.size() - one.size(), 1 + 5 + 2 + 1 + 1 + 3u);  // header; base, factor 1001003
  const auto decoded = decode_columns(both, 100, specs);
  ASSERT_TRUE(decoded);
  EXPECT_EQ((*decoded)[1].numbers, columns[1].numbers);
}

// Worked out by hand in docs/format.md: 1001003 = 0x3d << 14 | 0x0c << 7 | 0x2b.
TEST(ColumnCodec, WritesTheExampleOfTheFormatsDescription) {
  const std::vector<ColumnSpec> specs = {{"samples", ColumnType::u64}, {"value", ColumnType::u64}};
  const std::vector<Column> columns = {{{1, 2}, ""}, {{1001003, 2002006}, ""}};
  const std::string_view want(
      "\x02"
      "\x07samples\x00\x01\x02\x01\x02"
      "\x05value\x00\x04\x04\x00\xab\x8c\x3d",
      1 + 13 + 13);
  EXPECT_EQ(encode_columns(specs, columns), want);
}

TEST(ColumnCodec, TextsKeepEveryByte) {
  const ColumnSpec spec{"t", ColumnType::text};
  Column column;
  const std::vector<std::string> texts = {"", std::string("a\0b", 3), "\xff", ""};
  for (const std::string& text : texts) {
    column.numbers.push_back(text.size());
    column.bytes += text;
  }
  const std::string data = encode_columns({&spec, 1}, {&column, 1});
  const auto decoded = decode_columns(data, 4, {&spec, 1});
  ASSERT_TRUE(decoded);
  EXPECT_EQ((*decoded)[0].numbers, column.numbers);
  EXPECT_EQ((*decoded)[0].bytes, column.bytes);
}

TEST(ColumnCodec, UnknownColumnsAreIgnoredAndMissingOnesAbsent) {
  const std::vector<ColumnSpec> written = {{"later", ColumnType::u64}, {"a", ColumnType::u64}};
  const std::vector<Column> columns = {{{1, 2, 3}, ""}, {{4, 9, 4}, ""}};
  const std::string data = encode_columns(written, columns);
  const std::vector<ColumnSpec> wanted = {{"a", ColumnType::u64}, {"b", ColumnType::u64}};
  const auto decoded = decode_columns(data, 3, wanted);
  ASSERT_TRUE(decoded);
  EXPECT_EQ((*decoded)[0].numbers, (std::vector<uint64_t>{4, 9, 4}));
  EXPECT_FALSE((*decoded)[1].present);
}

TEST(ColumnCodec, RefusesDamage) {
  const std::vector<ColumnSpec> specs = {{"a", ColumnType::u64}, {"b", ColumnType::u64}};
  const std::vector<Column> columns = {{{7, 9}, ""}, {{14, 18}, ""}};
  const std::string data = encode_columns(specs, columns);
  ASSERT_TRUE(decode_columns(data, 2, specs));
  EXPECT_FALSE(decode_columns(data, 1, specs));  // bytes left over
  EXPECT_FALSE(decode_columns(data, 3, specs));  // too few
  EXPECT_FALSE(decode_columns(data + "x", 2, specs));
  for (size_t size = 0; size < data.size(); ++size) {
    EXPECT_FALSE(decode_columns(std::string_view(data).substr(0, size), 2, specs)) << size;
  }
  const std::vector<ColumnSpec> other_type = {{"a", ColumnType::i64}};
  EXPECT_FALSE(decode_columns(data, 2, other_type));
  const std::vector<ColumnSpec> only_b = {{"b", ColumnType::u64}};  // needs a, which is not read
  EXPECT_FALSE(decode_columns(data, 2, only_b));
}

TEST(ColumnCodec, RandomBytesGiveAnErrorOrColumnsOfTheRightLength) {
  const std::vector<ColumnSpec> specs = {{"a", ColumnType::u64}, {"t", ColumnType::text}};
  const std::vector<Column> columns = {{{7, 9, 1}, ""}, {{1, 0, 2}, "xyz"}};
  const std::string good = encode_columns(specs, columns);
  std::mt19937 dice(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string data = good;
    data[dice() % data.size()] = static_cast<char>(dice());
    data[dice() % data.size()] = static_cast<char>(dice());
    const auto decoded = decode_columns(data, 3, specs);
    if (!decoded) continue;
    for (const DecodedColumn& column : *decoded) {
      const size_t numbers = column.is_constant ? 1 : 3;
      EXPECT_EQ(column.numbers.size(), column.present ? numbers : 0u);
    }
  }
}

}  // namespace
}  // namespace culprit
