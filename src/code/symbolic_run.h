#pragma once

// The instructions of a function, run one by one with expressions instead of numbers (symbolic
// execution), and the table that an indirect jump reads, if what is known there gives it away.

#include <optional>
#include <span>

#include "code/effects.h"
#include "code/instruction.h"
#include "code/jump_tables.h"
#include "code/symbolic_state.h"

namespace culprit {

class SymbolicRun {
 public:
  /// All must outlive it.
  SymbolicRun(std::span<const Instruction> instructions, std::span<const Effect> effects,
              bool is_x86, const ReadImage& read)
      : instructions_(instructions),
        effects_(effects),
        read_(read),
        stack_pointer_(is_x86 ? 4 : 31),
        // rax, rcx, rdx, rsi, rdi, r8 to r11; x0 to x18 and x30
        lost_at_calls_(is_x86 ? 0x0fc7 : 0x4007ffff) {}

  /// Expressions that were given out mean nothing any more.
  void forget_expressions() { expressions_ = {}; }

  /// What is known where a function is entered: nothing.
  SymbolicState make_entry_state();
  /// What a register holds where ways meet that left different values in it: an unknown with the
  /// name of the place, so that walks over loops come to an end.
  ExpressionId make_unknown(size_t first_instruction, uint8_t reg) {
    return expressions_.unknown(kMeetingNames + first_instruction * kGeneralRegisters + reg);
  }

  /// `state` before the instruction becomes that behind it.
  void step(size_t instruction, SymbolicState& state);

  struct Branched {
    SymbolicState taken;
    SymbolicState on;  // to what stands behind the branch
  };
  /// What a conditional branch tells of what was compared.
  [[nodiscard]] Branched branch(size_t instruction, const SymbolicState& state) const;

  /// Errors: none where the jump reads no table, or nobody can tell from `state`
  std::optional<JumpTable> read_table(size_t jump, const SymbolicState& state);
  /// That no table would be found either if more were known than `state`: the target is what a
  /// call or an unknown instruction left, or lies in memory that is no slot of the stack.
  bool reads_no_table(size_t jump, const SymbolicState& state);

 private:
  static constexpr uint64_t kMeetingNames = uint64_t{1} << 62;
  static constexpr uint64_t kLostNames = uint64_t{1} << 61;

  struct IndexBound {
    uint64_t largest = UINT64_MAX;
    bool is_tested = false;  // by a comparison or a mask
  };

  ExpressionId value_of(const EffectTerm& term, const SymbolicState& state);
  ExpressionId value_of(const EffectSum& sum, const SymbolicState& state);
  ExpressionId target_of(const Effect& jump, const SymbolicState& state);
  ExpressionId load(const Effect& effect, const SymbolicState& state);
  void store(const Effect& effect, SymbolicState& state);
  void remember_load(const Effect& effect, ExpressionId value, SymbolicState& state);
  void forget_memory(SymbolicState& state) const;
  [[nodiscard]] ComparedFlags compare(const Effect& effect, SymbolicState& state);
  ExpressionId make_lost(size_t instruction, uint8_t reg) {
    return expressions_.unknown(kLostNames + instruction * kGeneralRegisters + reg);
  }
  [[nodiscard]] bool is_lost(ExpressionId one) const;
  [[nodiscard]] bool is_stack(ExpressionId address, const SymbolicState& state) const;
  [[nodiscard]] IndexBound bound_of(ExpressionId index, const SymbolicState& state) const;
  [[nodiscard]] std::optional<LinkAddress> to_target(const TableShape& shape, uint64_t entry,
                                                     bool may_leave) const;

  std::span<const Instruction> instructions_;
  std::span<const Effect> effects_;
  const ReadImage& read_;
  uint8_t stack_pointer_;
  uint32_t lost_at_calls_;
  Expressions expressions_;
};

}  // namespace culprit
