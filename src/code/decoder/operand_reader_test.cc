// Expected operands: Intel's instruction set reference and the Arm Architecture Reference Manual.

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

#include "code/decoder/decoder.h"

namespace culprit {
namespace {

using namespace std::string_literals;

constexpr Register kRax = 0, kRcx = 1, kRbx = 3, kRsp = 4, kRsi = 6;

std::vector<Operands> read(const std::string& bytes, const std::string& architecture = "x86_64") {
  const Result<Decoder> decoder = Decoder::make(architecture);
  EXPECT_TRUE(decoder);
  std::vector<Operands> all;
  for (const Instruction& one : decoder->decode(bytes, LinkAddress(0x1000), Detail::operands)) {
    EXPECT_TRUE(one.operands.is_known);
    all.push_back(one.operands);
  }
  return all;
}

template <size_t N>
std::vector<Register> list(const std::array<Register, N>& registers) {
  std::vector<Register> all(registers.begin(), registers.end());
  std::erase(all, kNoRegister);
  return all;
}
using Registers = std::vector<Register>;

TEST(Operands, AreRegistersAndAnAddress) {
  const Operands add = read("\xf0\x48\x01\x44\xce\x08"s).at(0);  // lock add %rax,8(%rsi,%rcx,8)
  EXPECT_EQ(list(add.reads), Registers{kRax});
  EXPECT_EQ(list(add.addresses), (Registers{kRsi, kRcx}));
  EXPECT_EQ(list(add.writes).size(), 1u);  // the flags
  ASSERT_TRUE(add.address);
  EXPECT_EQ(add.address->base, kRsi);
  EXPECT_EQ(add.address->index, kRcx);
  EXPECT_EQ(add.address->scale, 8);
  EXPECT_EQ(add.address->displacement, 8);
  EXPECT_FALSE(add.address->is_of_stack);
  EXPECT_TRUE(add.loads && add.stores && add.is_atomic);
}

// mov $1,%al; mov $1,%ah; mov %eax,%ebx; movzwl %bx,%eax
TEST(Operands, PartsOfARegisterAreOne) {
  const std::vector<Operands> moves = read("\xb0\x01\xb4\x01\x89\xc3\x0f\xb7\xc3"s);
  ASSERT_EQ(moves.size(), 4u);
  EXPECT_EQ(list(moves[0].writes), Registers{kRax});
  EXPECT_EQ(list(moves[1].writes), Registers{kRax});
  EXPECT_EQ(list(moves[2].reads), Registers{kRax});
  EXPECT_EQ(list(moves[2].writes), Registers{kRbx});
  EXPECT_EQ(list(moves[3].reads), Registers{kRbx});
}

TEST(Operands, AddressesWithoutAnAccess) {
  const Operands lea = read("\x48\x8d\x44\x24\xf0"s).at(0);  // lea -16(%rsp),%rax
  ASSERT_TRUE(lea.address);
  EXPECT_EQ(lea.address->base, kRsp);
  EXPECT_EQ(lea.address->displacement, -16);
  EXPECT_TRUE(lea.address->is_of_stack);
  EXPECT_FALSE(lea.loads || lea.stores);
}

TEST(Operands, AddressesRelativeToTheInstruction) {
  const Operands load = read("\x48\x8b\x05\x10\0\0\0"s).at(0);  // mov 16(%rip),%rax
  ASSERT_TRUE(load.address);
  EXPECT_TRUE(load.address->is_relative);
  EXPECT_EQ(load.address->base, kNoRegister);
  EXPECT_TRUE(load.loads);
}

// rep movsq; lodsb
TEST(Operands, RoundsOfStringInstructions) {
  const std::vector<Operands> strings = read("\xf3\x48\xa5\xac"s);
  ASSERT_EQ(strings.size(), 2u);
  EXPECT_TRUE(strings[0].repeats && strings[0].loads && strings[0].stores);
  EXPECT_EQ(strings[0].string_bytes, 8);
  EXPECT_TRUE(!strings[1].repeats && strings[1].loads && !strings[1].stores);
  EXPECT_EQ(strings[1].string_bytes, 1);
}

// popcnt %rbx,%rax: it pops nothing, and sets the flags.
TEST(Operands, CountsOfBitsAreNoPops) {
  const Operands popcnt = read("\xf3\x48\x0f\xb8\xc3"s).at(0);
  EXPECT_FALSE(popcnt.uses_stack || popcnt.loads);
  EXPECT_EQ(list(popcnt.writes).size(), 2u);
}

// ldr x0, [x1], #8; str x0, [x1, x2]; ldr x0, [sp, #8]
TEST(Operands, OfArm) {
  const std::vector<Operands> all =
      read("\x20\x84\x40\xf8\x20\x68\x22\xf8\xe0\x07\x40\xf9"s, "aarch64");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].updates, 1);
  EXPECT_EQ(list(all[0].writes), Registers{0});
  EXPECT_EQ(all[0].address.value().base, 1);
  EXPECT_EQ(all[1].address.value().base, 1);
  EXPECT_EQ(all[1].address.value().index, 2);
  EXPECT_TRUE(all[1].stores && !all[1].loads);
  EXPECT_EQ(all[2].address.value().base, 31);
  EXPECT_TRUE(all[2].address.value().is_of_stack);
}

TEST(Operands, AreThereWhereTheyAreAskedFor) {
  std::mt19937 random(5);
  std::string bytes(20'000, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (const char* architecture : {"x86_64", "aarch64"}) {
    const Result<Decoder> decoder = Decoder::make(architecture);
    ASSERT_TRUE(decoder);
    for (const Detail detail : {Detail::flow, Detail::operands, Detail::text}) {
      for (const Instruction& one : decoder->decode(bytes, LinkAddress(0x1000), detail)) {
        ASSERT_EQ(one.operands.is_known, detail != Detail::flow && !one.bad);
      }
    }
  }
}

}  // namespace
}  // namespace culprit
