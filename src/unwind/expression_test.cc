#include "unwind/expression.h"

#include <dwarf.h>
#include <gtest/gtest.h>

namespace culprit {
namespace {

const ReadWord kNoMemory = [](uint64_t) { return std::nullopt; };

std::optional<uint64_t> compute(const std::vector<Dwarf_Op>& operations, const Registers& registers,
                                const ReadWord& read, ExpressionFailure& failure) {
  return compute_expression(operations, {registers, read, 0x1000}, failure);
}

// What binutils writes for x86-64's procedure linkage table: after the push in the last five
// bytes of an entry of 16, a word more is on the stack.
TEST(Expression, ComputesTheFrameOfALinkageTableEntry) {
  const std::vector<Dwarf_Op> plt = {
      {DW_OP_breg7, 8, 0, 0}, {DW_OP_breg16, 0, 0, 0}, {DW_OP_lit15, 0, 0, 0},
      {DW_OP_and, 0, 0, 0},   {DW_OP_lit11, 0, 0, 0},  {DW_OP_ge, 0, 0, 0},
      {DW_OP_lit3, 0, 0, 0},  {DW_OP_shl, 0, 0, 0},    {DW_OP_plus, 0, 0, 0}};
  Registers registers;
  registers.set(7, 0x7000);
  ExpressionFailure failure{};
  for (uint64_t byte = 0; byte < 16; ++byte) {
    registers.set(16, 0x401020 + byte);
    const uint64_t pushed = byte >= 11 ? 8 : 0;
    EXPECT_EQ(compute(plt, registers, kNoMemory, failure), 0x7008 + pushed);
  }
}

TEST(Expression, ReadsMemoryOrSaysThatItCannot) {
  const std::vector<Dwarf_Op> load = {
      {DW_OP_call_frame_cfa, 0, 0, 0}, {DW_OP_plus_uconst, 16, 0, 0}, {DW_OP_deref, 0, 0, 0}};
  ExpressionFailure failure{};
  const ReadWord read = [](uint64_t address) { return std::optional(address * 2); };
  EXPECT_EQ(compute(load, {}, read, failure), 0x2020u);  // 2 * (0x1000 + 16)
  EXPECT_EQ(compute(load, {}, kNoMemory, failure), std::nullopt);
  EXPECT_EQ(failure, ExpressionFailure::memory);
}

TEST(Expression, RefusesWhatMakesNoSense) {
  ExpressionFailure failure{};
  const std::vector<std::vector<Dwarf_Op>> senseless = {
      {},
      {{DW_OP_plus, 0, 0, 0}},
      {{DW_OP_lit1, 0, 0, 0}, {DW_OP_plus, 0, 0, 0}},
      {{DW_OP_breg3, 0, 0, 0}},                          // not known
      {{DW_OP_bregx, 1'000'000, 0, 0}},                  // no register
      {{DW_OP_lit1, 0, 0, 0}, {DW_OP_pick, 1, 0, 0}},    // past the bottom
      {{DW_OP_lit1, 0, 0, 0}, {DW_OP_skip, 0, 0, 0}},    // no jumps
      std::vector<Dwarf_Op>(65, {DW_OP_lit1, 0, 0, 0}),  // deeper than 64
  };
  for (const auto& operations : senseless) {
    EXPECT_EQ(compute(operations, {}, kNoMemory, failure), std::nullopt);
    EXPECT_EQ(failure, ExpressionFailure::damaged);
  }
}

}  // namespace
}  // namespace culprit
