#pragma once

// Registers of the program's threads, as far as calls hand values over in them.

#include <array>
#include <cstdint>
#include <string_view>

namespace culprit::counting {

/// Where an engine keeps the integer registers of a thread, right whenever a block begins: in the
/// order of their numbers in code (x86-64: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, ...;
/// aarch64: x0 to x30, sp). nullptr: it does not tell.
using RegisterFile = const uint64_t*;
/// A register file that may be written when it is given.
using ChangedRegisters = uint64_t*;

/// How functions are called, by the System V ABIs of both architectures.
struct CallConvention {
  static constexpr uint8_t kNone = 0xff;
  std::array<uint8_t, 6> arguments{};
  uint8_t result = 0;
  uint8_t stack = 0;
  uint8_t link = kNone;  // the return address; kNone: it is on top of the stack
};

constexpr CallConvention call_convention(std::string_view architecture) {
  if (architecture == "x86_64") return {{7, 6, 2, 1, 8, 9}, 0, 4, CallConvention::kNone};
  return {{0, 1, 2, 3, 4, 5}, 0, 31, 30};
}

}  // namespace culprit::counting
