#include "stalls/port_chains.h"

#include <algorithm>
#include <bitset>
#include <span>

namespace culprit {
namespace {

using Registers = std::bitset<kNoRegister + 1>;

template <size_t n>
bool has_any(const std::array<Register, n>& used, const Registers& wanted) {
  return std::any_of(used.begin(), used.end(),
                     [&](Register one) { return one < kNoRegister && wanted.test(one); });
}

void set_all(const RegisterUse& use, bool value, Registers& registers) {
  for (const Register one : use.writes) {
    if (one < kNoRegister) registers.set(one, value);
  }
  if (use.updates < kNoRegister) registers.set(use.updates, value);
}

/// Whether each of the busy instructions needs, over registers, what the busy one before it wrote;
/// the first one what the last one of the round before wrote.
bool are_chained(std::span<const Instruction> loop, const std::vector<bool>& is_busy) {
  Registers of_last;  // that hold something computed from the busy instruction before
  bool has_last = false;
  for (const bool is_first_round : {true, false}) {
    for (size_t i = 0; i < loop.size(); ++i) {
      const Operands& use = loop[i].operands;
      if (!use.is_known) return false;
      const bool needs_last = has_any(use.reads, of_last) || has_any(use.addresses, of_last);
      if (is_busy[i]) {
        if (has_last && !needs_last) return false;
        has_last = true;
        of_last.reset();
        set_all(use, true, of_last);
      } else {
        set_all(use, needs_last, of_last);
      }
    }
    if (is_first_round && !has_last) return false;
  }
  return true;
}

}  // namespace

void move_ports_to_chains(const FunctionGraph& function,
                          std::vector<InstructionEvidence>& instructions) {
  // Others of the loop may use the port a little, where several share work.
  constexpr double kBusy = 0.25;  // of what the busiest instruction has
  constexpr double kMost = 0.95;  // of the port's time: what the busy ones must have
  constexpr auto kPort = static_cast<size_t>(StallCause::port);
  constexpr auto kChain = static_cast<size_t>(StallCause::chain);
  for (const FlowLoop& loop : function.loops.loops) {
    if (!loop.is_innermost || loop.last != loop.head) continue;
    const Block& block = function.code.blocks[loop.head];
    double most = 0;
    double all = 0;
    for (size_t i = block.first; i < block.last; ++i) {
      most = std::max(most, instructions[i].best.port);
      all += instructions[i].best.port;
    }
    if (!(all > 0)) continue;
    std::vector<bool> is_busy;
    double busy = 0;
    for (size_t i = block.first; i < block.last; ++i) {
      is_busy.push_back(instructions[i].best.port >= kBusy * most);
      if (is_busy.back()) busy += instructions[i].best.port;
    }
    const std::span<const Instruction> code =
        std::span(function.code.instructions).subspan(block.first, block.last - block.first);
    if (busy < kMost * all || !are_chained(code, is_busy)) continue;
    for (size_t i = block.first; i < block.last; ++i) {
      InstructionEvidence& one = instructions[i];
      one.best.chain += one.best.port;
      one.best.port = 0;
      one.most[kChain] += one.most[kPort];
      one.most[kPort] = 0;
    }
  }
}

}  // namespace culprit
