#pragma once

// X86Opcode: an x86-64 instruction up to its ModRM byte: what it does, not on which operands.
//
// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

namespace culprit::counting {

struct X86Opcode {
  enum class Map : uint8_t { one_byte, map_0f, map_0f38, map_0f3a };
  /// The prefix that chooses among the instructions of one opcode; the last of them if there are
  /// several.
  enum class Mandatory : uint8_t { none, p66, pf3, pf2 };

  Map map = Map::one_byte;
  uint8_t byte = 0;
  uint8_t modrm = 0;  // the byte behind the opcode, whether the instruction has a ModRM or not
  Mandatory mandatory = Mandatory::none;
  bool has_66 = false;     // the operands are of 16 bits
  bool has_67 = false;     // addresses, and what counts rounds, are of 32 bits
  bool is_locked = false;  // F0
  bool is_w = false;       // REX.W, VEX.W, EVEX.W
  bool is_l = false;       // VEX.L: vectors of 32 bytes
  bool is_vector = false;  // VEX or EVEX
  bool is_evex = false;

  [[nodiscard]] bool repeats() const {
    return mandatory == Mandatory::pf2 || mandatory == Mandatory::pf3;
  }
  /// Whether ModRM names an operand in memory; of opcodes that have one.
  [[nodiscard]] bool has_memory_operand() const { return modrm < 0xc0; }
  /// The part of ModRM that is more of the opcode in some.
  [[nodiscard]] int extension() const { return modrm >> 3 & 7; }
};

X86Opcode decode_x86_opcode(std::span<const uint8_t> code);

struct OpcodeRange {
  uint8_t first;
  uint8_t last;
};

template <size_t N>
bool contains(const OpcodeRange (&ranges)[N], uint8_t byte) {
  return std::any_of(std::begin(ranges), std::end(ranges), [&](const OpcodeRange& range) {
    return byte >= range.first && byte <= range.last;
  });
}

/// movs, cmps, stos, lods, scas, ins, outs.
inline bool is_string(const X86Opcode& opcode) {
  constexpr OpcodeRange kStrings[] = {{0x6c, 0x6f}, {0xa4, 0xa7}, {0xaa, 0xaf}};
  return opcode.map == X86Opcode::Map::one_byte && !opcode.is_vector &&
         contains(kStrings, opcode.byte);
}

}  // namespace culprit::counting
