#include "code/jump_tables.h"

#include <gtest/gtest.h>
#include <string>

#include "code/decoder/decoder.h"

namespace culprit {
namespace {

constexpr LinkAddress kCode(0x1000);
constexpr uint64_t kTable = 0x90'0000;

void append_number(std::string& code, uint64_t number) {
  for (int byte = 0; byte < 4; ++byte) code += static_cast<char>(number >> (8 * byte));
}

/// x86-64: so many tests that lead to one place, with a number of its own in eax from each; there
/// a `switch` of four cases, each of them a `ret`. `cases`: where the first one is.
std::string make_code(uint32_t ways, uint64_t& cases) {
  constexpr uint64_t kWayBytes = 14;
  const uint64_t join = kWayBytes * ways;
  std::string code;
  for (uint32_t way = 0; way < ways; ++way) {
    code += "\xb8";  // mov $way,%eax
    append_number(code, way);
    code.append("\x83\xfe\x07\x0f\x84", 5);  // cmp $7,%esi; je to the switch
    append_number(code, join - (code.size() + 4));
  }
  code.append("\x89\xff\x83\xff\x03\x77\x14\x48\x8d\x15", 10);    // mov %edi,%edi; cmp $3,%edi;
                                                                  // ja behind the cases;
  append_number(code, kTable - (kCode.value + code.size() + 4));  // lea of the table,%rdx
  code.append("\x48\x63\x04\xba\x48\x01\xd0\xff\xe0", 9);         // movslq (%rdx,%rdi,4),%rax;
                                                                  // add %rdx,%rax; jmp *%rax
  cases = kCode.value + code.size();
  return code + "\xc3\xc3\xc3\xc3\xc3";
}

TEST(JumpTables, AreFoundWhereThousandsOfWaysMeet) {
  // Ways that met one by one, each with all before it, would take minutes.
  uint64_t cases = 0;
  const std::string code = make_code(10'000, cases);
  const Result<Decoder> decoder = Decoder::make("x86_64");
  ASSERT_TRUE(decoder) << decoder.error().message;
  const std::vector<Instruction> instructions = decoder->decode(code, kCode, Detail::flow);
  const std::vector<Effect> effects = decoder->read_effects(code, instructions);
  const ReadImage read = [&](LinkAddress at, uint8_t bytes) -> std::optional<uint64_t> {
    if (bytes != 4 || at.value < kTable || at.value >= kTable + 16) return std::nullopt;
    return (cases + (at.value - kTable) / 4 - kTable) & UINT32_MAX;
  };
  const std::vector<JumpTable> tables = find_jump_tables(instructions, effects, true, read);
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_TRUE(tables[0].is_complete);
  EXPECT_EQ(tables[0].from, LinkAddress(cases - 2));
  EXPECT_EQ(tables[0].targets,
            (std::vector<LinkAddress>{LinkAddress(cases), LinkAddress(cases + 1),
                                      LinkAddress(cases + 2), LinkAddress(cases + 3)}));
}

/// The tables of x86-64 code at kCode whose entries are addresses that lie side by side at kTable.
std::vector<JumpTable> find_tables(const std::string& code, const std::vector<uint64_t>& entries) {
  const Result<Decoder> decoder = Decoder::make("x86_64");
  if (!decoder) return {};
  const std::vector<Instruction> instructions = decoder->decode(code, kCode, Detail::flow);
  const std::vector<Effect> effects = decoder->read_effects(code, instructions);
  const ReadImage read = [&](LinkAddress at, uint8_t bytes) -> std::optional<uint64_t> {
    const uint64_t entry = (at.value - kTable) / 8;
    if (bytes != 8 || at.value < kTable || entry >= entries.size()) return std::nullopt;
    return entries[entry];
  };
  return find_jump_tables(instructions, effects, true, read);
}

TEST(JumpTables, AreFoundWhereTwoTestsShareTheJump) {
  std::string code(
      "\x83\xff\x01"   // 1000  cmp $1,%edi
      "\x76\x05"       // 1003  jbe 100a
      "\x83\xff\x03"   // 1005  cmp $3,%edi
      "\x77\x0d"       // 1008  ja 1017
      "\x89\xff"       // 100a  mov %edi,%edi
      "\xff\x24\xfd",  // 100c  jmp *table(,%rdi,8)
      15);
  append_number(code, kTable);
  code += "\xc3\xc3\xc3\xc3\xc3";  // 1013  four cases; 1017
  const std::vector<JumpTable> tables = find_tables(code, {0x1013, 0x1014, 0x1015, 0x1016});
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_TRUE(tables[0].is_complete);
  EXPECT_EQ(tables[0].from, LinkAddress(0x100c));
  EXPECT_EQ(tables[0].targets,
            (std::vector<LinkAddress>{LinkAddress(0x1013), LinkAddress(0x1014), LinkAddress(0x1015),
                                      LinkAddress(0x1016)}));
}

TEST(JumpTables, AreNotBelievedWhereAnotherTableLeadsPastTheTest) {
  std::string code(
      "\x83\xfe\x01"   // 1000  cmp $1,%esi
      "\x76\x13"       // 1003  jbe 1018
      "\x83\xff\x03"   // 1005  cmp $3,%edi
      "\x77\x0d"       // 1008  ja 1017
      "\x89\xff"       // 100a  mov %edi,%edi
      "\xff\x24\xfd",  // 100c  jmp *table(,%rdi,8)
      15);
  append_number(code, kTable);
  code += "\xc3\xc3\xc3\xc3\xc3";  // 1013  four cases; 1017
  code += "\x89\xf6\xff\x24\xf5";  // 1018  mov %esi,%esi; jmp *table + 32(,%rsi,8)
  append_number(code, kTable + 32);
  const std::vector<JumpTable> tables =
      find_tables(code, {0x1013, 0x1014, 0x1015, 0x1016, 0x100a, 0x1017});
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_TRUE(tables[0].is_complete);
  EXPECT_EQ(tables[0].from, LinkAddress(0x101a));
  EXPECT_EQ(tables[0].targets,
            (std::vector<LinkAddress>{LinkAddress(0x100a), LinkAddress(0x1017)}));
}

TEST(JumpTables, EndSoonWhereNothingLeadsToManyJumps) {
  // A look through all blocks for each of them would take minutes.
  std::string code;
  for (int i = 0; i < 100'000; ++i) code += "\xff\xe0";  // jmp *%rax
  EXPECT_TRUE(find_tables(code, {}).empty());
}

}  // namespace
}  // namespace culprit
