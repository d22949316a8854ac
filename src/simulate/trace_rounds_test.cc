// Traces of string instructions: what is done of their rounds at once, and what the profile has
// then.

#include <array>
#include <fmt/format.h>

#include "simulate/test_trace.h"

namespace culprit {
namespace {

// A string instruction that repeats, behind a nop, and its rounds, for QEMU a block each.
constexpr const char* kStrings = R"(
map 400000 1000 /trace/program
block copy 400100 90 f3a4
block copy_round 400101 f3a4
block copy_words 400110 90 f348a5
block copy_words_round 400111 f348a5
block fill 400120 90 f3aa
block fill_round 400121 f3aa
thread 0
)";
constexpr uint64_t kCopy = 0x400101;
constexpr uint64_t kCopyWords = 0x400111;
constexpr uint64_t kFill = 0x400121;

/// Pages of memory for string instructions, with different bytes.
class Pages {
 public:
  explicit Pages(size_t count) : bytes_((count + 1) * 4096) {
    for (size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<uint8_t>(i * 167 + i / 251);
    begin_ = (reinterpret_cast<uint64_t>(bytes_.data()) + 4095) / 4096 * 4096;
  }
  [[nodiscard]] uint64_t at(uint64_t offset) const { return begin_ + offset; }
  [[nodiscard]] uint8_t byte(uint64_t offset) const {
    return *reinterpret_cast<const uint8_t*>(begin_ + offset);
  }
  [[nodiscard]] std::vector<uint8_t> bytes(uint64_t offset, uint64_t count) const {
    const auto* const first = reinterpret_cast<const uint8_t*>(begin_ + offset);
    return {first, first + count};
  }

 private:
  std::vector<uint8_t> bytes_;
  uint64_t begin_ = 0;
};

/// rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi.
std::array<uint64_t, 8> registers_for(uint64_t count, uint64_t from, uint64_t to,
                                      uint64_t value = 0) {
  return {value, count, 0, 0, 0, 0, from, to};
}

// By hand: 10,000 bytes from a line's start are in 157 lines (10,000 / 64 = 156.25), of the source
// and of where they go; each is missed once. One instruction, whatever its rounds.
TEST_F(Trace, RoundsOfACopyCountAsIfEachHadRun) {
  simulate_small_machine();
  const Pages pages(6);
  const std::vector<uint8_t> expected = pages.bytes(0, 10'000);
  auto registers = registers_for(10'000, pages.at(0), pages.at(3 * 4096));
  uint64_t left_to_engine = 0;
  play([&](TracePlayer& player) {
    player.play(kStrings);
    left_to_engine = player.repeat(0, "copy", "copy_round", registers);
  });
  EXPECT_EQ(pages.bytes(3 * 4096, 10'000), expected);
  EXPECT_EQ(registers, registers_for(0, pages.at(10'000), pages.at(3 * 4096 + 10'000)));
  EXPECT_EQ(value("instructions", kCopy), 1U);
  EXPECT_EQ(value("L1-dcache-loads", kCopy), 10'000U);
  EXPECT_EQ(value("load-bytes", kCopy), 10'000U);
  EXPECT_EQ(value("L1-dcache-stores", kCopy), 10'000U);
  EXPECT_EQ(value("store-bytes", kCopy), 10'000U);
  EXPECT_EQ(value("L1-dcache-load-misses", kCopy), 157U);
  EXPECT_EQ(value("L1-dcache-store-misses", kCopy), 157U);
  // The first three show that the registers are what they seem; then one for each page.
  EXPECT_EQ(left_to_engine, 3U + 1 + 1 + 1);
}

// Words of which some lie in two lines and in two pages: from 4 bytes behind a page's start to 20
// behind another's. 1000 of them are 8000 bytes: 4 to 8003, lines 0 to 125; 20 to 8019, the same.
TEST_F(Trace, RoundsOfWordsThatCrossLinesAndPages) {
  simulate_small_machine();
  const Pages pages(6);
  const std::vector<uint8_t> expected = pages.bytes(4, 8000);
  auto registers = registers_for(1000, pages.at(4), pages.at(3 * 4096 + 20));
  play([&](TracePlayer& player) {
    player.play(kStrings);
    player.repeat(0, "copy_words", "copy_words_round", registers);
  });
  EXPECT_EQ(pages.bytes(3 * 4096 + 20, 8000), expected);
  EXPECT_EQ(registers, registers_for(0, pages.at(8004), pages.at(3 * 4096 + 8020)));
  EXPECT_EQ(value("instructions", kCopyWords), 1U);
  EXPECT_EQ(value("L1-dcache-loads", kCopyWords), 1000U);
  EXPECT_EQ(value("load-bytes", kCopyWords), 8000U);
  EXPECT_EQ(value("store-bytes", kCopyWords), 8000U);
  EXPECT_EQ(value("L1-dcache-load-misses", kCopyWords), 126U);
  EXPECT_EQ(value("L1-dcache-store-misses", kCopyWords), 126U);
}

TEST_F(Trace, RoundsOfAFill) {
  simulate_small_machine();
  const Pages pages(3);
  auto registers = registers_for(5000, 17, pages.at(32), 0x1234'56a7);
  play([&](TracePlayer& player) {
    player.play(kStrings);
    player.repeat(0, "fill", "fill_round", registers);
  });
  EXPECT_EQ(pages.bytes(32, 5000), std::vector<uint8_t>(5000, 0xa7));
  EXPECT_NE(pages.byte(31), 0xa7);
  EXPECT_EQ(registers, registers_for(0, 17, pages.at(5032), 0x1234'56a7));
  EXPECT_EQ(value("L1-dcache-loads", kFill), 0U);
  EXPECT_EQ(value("L1-dcache-stores", kFill), 5000U);
  EXPECT_EQ(value("L1-dcache-store-misses", kFill), 79U);  // 32 to 5031: lines 0 to 78
}

// Forward onto what is still to be read, a byte farther on: the first byte is everywhere. 100 bytes
// farther on: the first 100 again and again. Backward: what memmove does.
TEST_F(Trace, OverlappingCopiesMoveByteByByte) {
  const auto copy = [&](uint64_t from, uint64_t to, bool backward) {
    Pages pages(3);
    std::vector<uint8_t> expected = pages.bytes(0, 3 * 4096);
    for (uint64_t i = 0; i < 3000; ++i) {
      const uint64_t place = backward ? -i : i;
      expected[to + place] = expected[from + place];
    }
    auto registers = registers_for(3000, pages.at(from), pages.at(to));
    uint64_t left_to_engine = 0;
    std::filesystem::remove_all(folder_->path());
    std::filesystem::create_directory(folder_->path());
    simulate_small_machine();
    play([&](TracePlayer& player) {
      player.play(kStrings);
      left_to_engine = player.repeat(0, "copy", "copy_round", registers, backward);
    });
    EXPECT_EQ(pages.bytes(0, 3 * 4096), expected) << from << " to " << to;
    EXPECT_EQ(value("L1-dcache-stores", kCopy), 3000U);
    EXPECT_EQ(value("store-bytes", kCopy), 3000U);
    EXPECT_EQ(value("instructions", kCopy), 1U);
    return left_to_engine;
  };
  EXPECT_EQ(copy(1000, 1001, false), 3000U);
  EXPECT_EQ(copy(1000, 1063, false), 3000U);
  EXPECT_LT(copy(1000, 1064, false), 10U);
  EXPECT_LT(copy(1000, 1100, false), 10U);
  EXPECT_LT(copy(1100, 1000, false), 10U);
  EXPECT_EQ(copy(4000, 4500, true), 3000U);
}

// Instructions are skipped before rounds are done at once; then what is left is one instruction.
TEST_F(Trace, RoundsThatAreSkippedAreTheEnginesOwn) {
  options_.skip = 100;
  const Pages pages(4);
  auto registers = registers_for(1000, pages.at(0), pages.at(2 * 4096));
  uint64_t left_to_engine = 0;
  play([&](TracePlayer& player) {
    player.play(kStrings);
    left_to_engine = player.repeat(0, "copy", "copy_round", registers);
  });
  // A nop and 99 rounds; of 1000 rounds 901 are left.
  EXPECT_EQ(value("L1-dcache-loads", kCopy), 901U);
  EXPECT_GT(left_to_engine, 99U);
  EXPECT_LT(left_to_engine, 110U);
}

// What registers say is believed only if it is what the rounds before have done.
TEST_F(Trace, RegistersThatDoNotAgreeAreLeftAlone) {
  const Pages pages(4);
  auto registers = registers_for(1000, pages.at(0), pages.at(2 * 4096));
  uint64_t left_to_engine = 0;
  play([&](TracePlayer& player) {
    player.play(kStrings);
    left_to_engine =
        player.repeat(0, "copy", "copy_round", registers, false, /*shows_others=*/true);
  });
  EXPECT_EQ(left_to_engine, 1000U);
  EXPECT_EQ(value("L1-dcache-loads", kCopy), 1000U);
}

// 400 instructions are not counted, so the first 100 runs of the loop; 160 are.

}  // namespace
}  // namespace culprit
