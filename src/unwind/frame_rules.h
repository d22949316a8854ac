#pragma once

// FrameRules: what the unwind table says at one instruction: where the frame of its
// function begins (the CFA) and where the registers of its caller are.
//
//      higher addresses   | ...            |
//                  CFA -> +----------------+     CFA = rsp + 24
//                         | return address |     return address at CFA - 8
//                         | caller's rbx   |     rbx            at CFA - 16
//                  rsp -> | a local        |     all others as they are
//
// They are the same for all processes that run the file, and few: a program's hot
// call sites. So they are made of libdw's frames once, in this compact form.

#include <cstdint>
#include <elfutils/libdw.h>
#include <optional>
#include <vector>

#include "unwind/architecture.h"
#include "unwind/expression.h"

namespace culprit {

/// How to find a value: that of the CFA or of a caller's register.
struct ValueRule {
  enum class Kind : uint8_t {
    in_register,    // register + offset
    at_cfa,         // in memory at CFA + offset
    is_cfa,         // CFA + offset
    at_expression,  // in memory at what the expression yields
    is_expression,  // what the expression yields
  };
  Kind kind = Kind::in_register;
  uint8_t target = 0;  // whose value this is (DWARF number); of no meaning for the CFA
  uint8_t source = 0;  // of in_register
  int64_t offset = 0;
  std::vector<Dwarf_Op> expression;
};

struct FrameRules {
  ValueRule cfa;
  std::vector<ValueRule> registers;  // those that were saved
  uint64_t lost = 0;                 // those that cannot be known, as bits; others are as they were
  uint8_t return_address = 0;        // the register that is the caller's program counter
  bool is_signal_frame = false;      // its "caller" was interrupted, not called from

  [[nodiscard]] bool is_outermost() const { return (lost >> return_address & 1) != 0; }
};

/// nullopt: they cannot be expressed, or contradict themselves.
std::optional<FrameRules> make_frame_rules(Dwarf_Frame* frame, const Architecture& architecture);

enum class StepFailure : uint8_t { none, memory, damaged };

/// The caller's state.
struct Step {
  uint64_t cfa = 0;
  std::optional<uint64_t> pc;  // nullopt: there is no caller
  Registers registers;
};

/// `failure` says why the result is nullopt.
std::optional<Step> apply(const FrameRules& rules, const Architecture& architecture,
                          const Registers& registers, const ReadWord& read, StepFailure& failure);

}  // namespace culprit
