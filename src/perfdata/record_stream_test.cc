// Streams laid out by hand; what must come out is what was laid in.

#include "perfdata/record_stream.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <zstd.h>

#include "perfdata/decompressor.h"
#include "perfdata/test_file.h"

namespace culprit {
namespace {

using testing::Bytes;
using testing::kLittle;
using testing::text_of;

constexpr uint32_t kCompressed = 81;
constexpr uint32_t kCompressed2 = 83;

/// A record of `size` bytes whose body repeats its number.
std::string numbered(uint32_t number, size_t size) {
  Bytes body;
  while (body.size() + 8 < size) body.u64(number);
  return text_of(Bytes::record(1000 + number, 0, body));
}

Fd file_of(const std::string& bytes) {
  Fd fd(::memfd_create("records", MFD_CLOEXEC));
  EXPECT_EQ(::pwrite(fd.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  return fd;
}

/// Every record's number and size, checked against its body, up to the end or an error.
struct Outcome {
  std::vector<std::pair<uint32_t, size_t>> records;
  std::string error;
};
Outcome read_all(RecordStream stream, bool hold = false) {
  Outcome outcome;
  std::vector<RawRecord> held;
  std::vector<HeldBlock> blocks;
  while (true) {
    Result<std::optional<RawRecord>> record = stream.next();
    if (!record) {
      outcome.error = record.error().message;
      break;
    }
    if (!*record) break;
    held.push_back(**record);
    if (hold) blocks.push_back(stream.hold());
    outcome.records.emplace_back(held.back().header.type - 1000, held.back().bytes.size());
    if (!hold) held.clear();
  }
  for (const RawRecord& record : held) {
    EXPECT_EQ(text_of(Bytes().raw(
                  {reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size()})),
              numbered(record.header.type - 1000, record.bytes.size()));
  }
  return outcome;
}

Outcome read_all(const std::string& bytes, bool hold = false) {
  const Fd fd = file_of(bytes);
  return read_all(RecordStream(fd.get(), UINT64_MAX, kLittle), hold);
}

TEST(RecordStream, HandsOutRecordsAcrossBlockBordersWhole) {
  std::string bytes;
  for (uint32_t i = 0; i < 100; ++i) bytes += numbered(i, 65'528 - 8 * i);
  for (const bool hold : {false, true}) {
    const Outcome outcome = read_all(bytes, hold);
    EXPECT_EQ(outcome.error, "");
    ASSERT_EQ(outcome.records.size(), 100u);
    for (uint32_t i = 0; i < 100; ++i) {
      EXPECT_EQ(outcome.records[i], std::pair(i, size_t{65'528} - 8 * i));
    }
  }
}

TEST(RecordStream, EndsAtItsLimit) {
  const Fd fd = file_of(numbered(1, 64) + numbered(2, 64) + numbered(3, 64));
  const Outcome outcome = read_all(RecordStream(fd.get(), 128, kLittle));
  EXPECT_EQ(outcome.records.size(), 2u);
  EXPECT_EQ(outcome.error, "");
}

TEST(RecordStream, SaysWhereItIsCutOff) {
  const std::string whole = numbered(1, 64);
  EXPECT_EQ(read_all(whole + numbered(2, 64).substr(0, 20)).error,
            "it ends in the middle of a record: 20 of 64 bytes at 64");
  EXPECT_EQ(read_all(whole + "abc").error, "it ends in the middle of a record: 3 of 8 bytes at 64");
  EXPECT_EQ(read_all(whole + "abc").records.size(), 1u);
}

TEST(RecordStream, RefusesARecordWithoutASize) {
  EXPECT_EQ(read_all(numbered(1, 64) + text_of(Bytes().u32(9).u16(0).u16(0))).error,
            "the record at byte 64 says a size of 0 bytes");
  EXPECT_NE(read_all(text_of(Bytes().u32(9).u16(0).u16(7))).error, "");
  EXPECT_EQ(read_all(text_of(Bytes().u32(1000).u16(0).u16(8))).records.size(), 1u);
}

TEST(RecordStream, ReadsAPipeThatTricklesWithBoundedMemory) {
  // 20,000 bytes one by one; held records share one block.
  std::string bytes;
  for (uint32_t i = 0; i < 500; ++i) bytes += numbered(i, 40);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Fd in(ends[0]);
  std::thread writer([&, out = Fd(ends[1])] {
    for (const char byte : bytes) ASSERT_EQ(::write(out.get(), &byte, 1), 1);
  });
  RecordStream stream(in.get(), UINT64_MAX, kLittle);
  std::vector<HeldBlock> held;
  while (true) {
    Result<std::optional<RawRecord>> record = stream.next();
    ASSERT_TRUE(record);
    if (!*record) break;
    held.push_back(stream.hold());
  }
  writer.join();
  ASSERT_EQ(held.size(), 500u);
  EXPECT_EQ(held.front(), held.back());
}

TEST(RecordStream, SkipsAndTakesWhatFollowsARecord) {
  const Fd fd = file_of(numbered(1, 16) + std::string(3'000'000, 'x') + numbered(2, 16) +
                        "tracing!" + numbered(3, 16));
  RecordStream stream(fd.get(), UINT64_MAX, kLittle);
  ASSERT_TRUE(stream.next());
  ASSERT_TRUE(stream.skip(3'000'000));
  EXPECT_EQ((*stream.next())->header.type, 1002u);
  const auto taken = stream.take(8);
  ASSERT_TRUE(taken);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(taken->data()), taken->size()), "tracing!");
  EXPECT_EQ((*stream.next())->header.type, 1003u);
  EXPECT_EQ(stream.consumed(), 3'000'056u);
  EXPECT_FALSE(stream.skip(1));
  EXPECT_FALSE(stream.take(1));
  EXPECT_FALSE(stream.take(uint64_t{1} << 40));
}

// --- compressed records

std::string deflate(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

/// One zstd stream, cut into COMPRESSED records of so many bytes each.
std::string compressed(const std::string& packed, size_t step) {
  std::string bytes;
  for (size_t at = 0; at < packed.size(); at += step) {
    bytes += text_of(Bytes::record(kCompressed, 0, Bytes().raw(packed.substr(at, step))));
  }
  return bytes;
}

TEST(CompressedRecords, ComeOutAsTheRecordsInsideThem) {
  std::string inner;
  for (uint32_t i = 0; i < 300; ++i) inner += numbered(i, 24 + 8 * (i % 50));
  // Any cut of the stream: even a byte at a time, in the middle of everything.
  for (const size_t step : {size_t{1}, size_t{7}, size_t{100}, size_t{60'000}}) {
    const Outcome outcome = read_all(compressed(deflate(inner), step) + numbered(300, 16), true);
    EXPECT_EQ(outcome.error, "");
    ASSERT_EQ(outcome.records.size(), 301u) << step;
    for (uint32_t i = 0; i < 300; ++i) EXPECT_EQ(outcome.records[i].first, i);
  }
}

TEST(CompressedRecords, OfTheSecondKindSayHowMuchOfThemIsUsed) {
  const std::string packed = deflate(numbered(1, 64) + numbered(2, 64));
  const Bytes body = Bytes().u64(packed.size()).padded(packed);
  const std::string bytes = text_of(Bytes::record(kCompressed2, 0, body));
  EXPECT_EQ(read_all(bytes, true).records.size(), 2u);
  const Bytes lying = Bytes().u64(packed.size() + 100).padded(packed);
  EXPECT_NE(read_all(text_of(Bytes::record(kCompressed2, 0, lying))).error, "");
  EXPECT_NE(read_all(text_of(Bytes::record(kCompressed2, 0, Bytes().u32(4)))).error, "");
}

TEST(CompressedRecords, ThatAreDamagedOrCutOffAreErrors) {
  std::string packed = deflate(numbered(1, 64) + numbered(2, 6400));
  const std::string cut = packed.substr(0, packed.size() / 2);
  EXPECT_NE(read_all(compressed(deflate(numbered(1, 64).substr(0, 50)), 100)).error, "");
  packed[0] = '?';
  EXPECT_NE(read_all(compressed(packed, 100)).error.find("damaged"), std::string::npos);
  EXPECT_EQ(read_all(compressed(cut, 100)).records.size(), 0u);
}

TEST(CompressedRecords, ThatInflateEnormouslyDoSoABlockAtATime) {
  std::string inner;
  while (inner.size() < (64U << 20)) inner += numbered(1, 65'528);
  const std::string packed = deflate(inner);
  ASSERT_LT(packed.size(), 60'000u);
  const Fd fd = file_of(compressed(packed, 60'000));
  RecordStream stream(fd.get(), UINT64_MAX, kLittle);
  size_t records = 0;
  while (true) {
    const Result<std::optional<RawRecord>> record = stream.next();
    ASSERT_TRUE(record);
    if (!*record) break;
    ++records;
    // A block of a megabyte, and what was left of the one before.
    ASSERT_LE(stream.block()->size(), (1U << 20) + UINT16_MAX);
  }
  EXPECT_EQ(records, inner.size() / 65'528);
}

TEST(CompressedRecords, ThatInflateToMoreThanTheLimitAreRefused) {
  std::string inner;
  while (inner.size() <= Decompressor::kMostPerRecord + (4U << 20)) inner += numbered(1, 65'528);
  const std::string packed = deflate(inner);
  ASSERT_LT(packed.size(), 60'000u);
  EXPECT_NE(read_all(compressed(packed, 60'000)).error.find("more than 256 MB"), std::string::npos);
}

}  // namespace
}  // namespace culprit
