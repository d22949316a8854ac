#include "base/bytes.h"

#include <array>
#include <gtest/gtest.h>
#include <limits>

namespace culprit {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(ByteReader, TakesIntegersInBothByteOrders) {
  const std::string_view text("\x01\x02\x03\x04\xff\xfe", 6);
  ByteReader little(bytes_of(text), std::endian::little);
  EXPECT_EQ(*little.take<uint32_t>(), 0x04030201u);
  EXPECT_EQ(*little.take<int16_t>(), -257);  // 0xfeff
  ByteReader big(bytes_of(text), std::endian::big);
  EXPECT_EQ(*big.take<uint32_t>(), 0x01020304u);
  EXPECT_EQ(*big.take<int16_t>(), -2);  // 0xfffe
  EXPECT_EQ(big.remaining(), 0u);
}

TEST(ByteReader, NeverReadsPastTheEnd) {
  ByteReader reader(bytes_of("abc"));
  EXPECT_FALSE(reader.take<uint32_t>());
  EXPECT_EQ(reader.position(), 0u);  // a failed take leaves it where it was
  EXPECT_FALSE(reader.take_bytes(4));
  EXPECT_FALSE(reader.take_bytes(std::numeric_limits<size_t>::max()));
  ASSERT_TRUE(reader.take_bytes(3));
  EXPECT_FALSE(reader.take<uint8_t>());
  EXPECT_TRUE(reader.take_bytes(0));
  EXPECT_NE(reader.take<uint8_t>().error().message.find("at 3"), std::string::npos);
}

TEST(ByteReader, StringsEndAtNulOrAtTheEnd) {
  ByteReader reader(bytes_of(std::string_view("ab\0\0cd", 6)));
  EXPECT_EQ(reader.take_string(), "ab");
  EXPECT_EQ(reader.take_string(), "");
  EXPECT_EQ(reader.take_string(), "cd");
  EXPECT_EQ(reader.take_string(), "");
  EXPECT_EQ(reader.remaining(), 0u);
}

TEST(ByteReader, OfNothingHasNothing) {
  ByteReader reader({});
  EXPECT_EQ(reader.take_string(), "");
  EXPECT_FALSE(reader.take<uint8_t>());
}

}  // namespace
}  // namespace culprit
