#include "simulate/counting/known_accesses.h"

namespace culprit::counting {
namespace {

using Map = X86Opcode::Map;
using Mandatory = X86Opcode::Mandatory;

constexpr KnownAccesses kUnknown{};
constexpr KnownAccesses kNone{.is_known = true};

constexpr uint8_t kMostAtOnce = 8;  // bytes that an engine shows

constexpr KnownAccesses load_of(uint8_t bytes) {
  return {.is_known = true, .load_bytes = bytes, .in_parts = bytes > kMostAtOnce};
}
constexpr KnownAccesses store_of(uint8_t bytes) {
  return {.is_known = true, .store_bytes = bytes, .in_parts = bytes > kMostAtOnce};
}
/// QEMU 7.2 loads a whole vector for some narrower operands (tests/accesses_test.py finds them).
constexpr KnownAccesses narrow_load_of(uint8_t bytes) {
  return {.is_known = true, .load_bytes = bytes, .in_parts = true, .is_shown_wider = true};
}
constexpr KnownAccesses load_and_store_of(uint8_t bytes) {
  return {.is_known = true, .load_bytes = bytes, .store_bytes = bytes};
}

/// How many bytes the operand in memory of a general instruction has that does not work on bytes.
uint8_t word_bytes(const X86Opcode& opcode) {
  return opcode.is_w ? 8 : opcode.has_66 ? 2 : 4;
}
/// The bytes of any general instruction: opcodes come in pairs, of which the even one works on
/// bytes.
uint8_t byte_or_word(const X86Opcode& opcode) {
  return (opcode.byte & 1) == 0 ? 1 : word_bytes(opcode);
}

uint8_t vector_bytes(const X86Opcode& opcode) {
  return opcode.is_l ? 32 : 16;
}
/// All of the vector, or its one float or double.
uint8_t float_bytes(const X86Opcode& opcode) {
  switch (opcode.mandatory) {
    case Mandatory::pf3:
      return 4;
    case Mandatory::pf2:
      return 8;
    default:
      return vector_bytes(opcode);
  }
}

/// Instructions of the one-byte map that have no ModRM.
KnownAccesses without_operand(const X86Opcode& opcode) {
  constexpr OpcodeRange kNothing[] = {
      {0x04, 0x05}, {0x0c, 0x0d}, {0x14, 0x15}, {0x1c, 0x1d},
      {0x24, 0x25}, {0x2c, 0x2d}, {0x34, 0x35}, {0x3c, 0x3d},  // with the accumulator
      {0x70, 0x7f}, {0xe0, 0xe3}, {0xe9, 0xe9}, {0xeb, 0xeb},  // jumps
      {0x90, 0x99}, {0xa8, 0xa9}, {0xb0, 0xbf},                // xchg, cltq, test, mov
      {0xf5, 0xf5}, {0xf8, 0xf9}, {0xfc, 0xfd}};               // flags
  constexpr OpcodeRange kPushes[] = {{0x50, 0x57}, {0x68, 0x68}, {0x6a, 0x6a}, {0xe8, 0xe8}};
  constexpr OpcodeRange kPops[] = {{0x58, 0x5f}, {0xc2, 0xc3}, {0xc9, 0xc9}};
  if (contains(kNothing, opcode.byte)) return kNone;
  if (opcode.has_66) return kUnknown;
  if (contains(kPushes, opcode.byte)) return store_of(8);
  return contains(kPops, opcode.byte) ? load_of(8) : kUnknown;
}

/// Groups 3 to 5: what they do is in ModRM.
KnownAccesses of_group(const X86Opcode& opcode) {
  const int extension = opcode.extension();
  const bool is_memory = opcode.has_memory_operand();
  if (opcode.byte < 0xfe) {  // test, test, not, neg, mul, imul, div, idiv
    if (!is_memory) return kNone;
    const bool is_changed = extension == 2 || extension == 3;
    const uint8_t bytes = byte_or_word(opcode);
    return is_changed ? load_and_store_of(bytes) : load_of(bytes);
  }
  if (extension <= 1) return is_memory ? load_and_store_of(byte_or_word(opcode)) : kNone;
  if (opcode.byte == 0xfe || opcode.has_66) return kUnknown;
  switch (extension) {
    case 2:  // call
    case 6:  // push
      return is_memory ? load_and_store_of(8) : store_of(8);
    case 4:  // jmp
      return is_memory ? load_of(8) : kNone;
    default:
      return kUnknown;
  }
}

/// The eight operations of arithmetic, the first four opcodes of each: two that change the operand,
/// two that change a register. The last operation is cmp.
bool is_arithmetic(const X86Opcode& opcode) {
  return opcode.byte < 0x40 && (opcode.byte & 7) < 4;
}

/// What an instruction does with its operand in memory.
KnownAccesses of_operand(const X86Opcode& opcode) {
  const uint8_t bytes = byte_or_word(opcode);
  if (is_arithmetic(opcode)) {
    const bool is_changed = (opcode.byte & 2) == 0 && opcode.byte < 0x38;
    return is_changed ? load_and_store_of(bytes) : load_of(bytes);
  }
  switch (opcode.byte) {
    case 0x63:  // movslq
      return opcode.has_66 ? kUnknown : load_of(4);
    case 0x69:  // imul
    case 0x6b:
      return load_of(bytes);
    case 0x80:  // arithmetic with a constant
    case 0x81:
    case 0x83:
      return opcode.extension() == 7 ? load_of(bytes) : load_and_store_of(bytes);
    case 0x84:  // test
    case 0x85:
    case 0x8a:  // mov
    case 0x8b:
      return load_of(bytes);
    case 0x88:
    case 0x89:
      return store_of(bytes);
    case 0xc6:
    case 0xc7:
      return opcode.extension() == 0 ? store_of(bytes) : kUnknown;
    case 0x8d:  // lea
      return kNone;
    case 0xc0:  // shifts by a constant
    case 0xc1:
    case 0xd0:
    case 0xd1:
      return load_and_store_of(bytes);
    default:  // xchg, shifts by a register, x87
      return kUnknown;
  }
}

KnownAccesses of_one_byte_map(const X86Opcode& opcode) {
  constexpr OpcodeRange kGroups[] = {{0xf6, 0xf7}, {0xfe, 0xff}};
  constexpr OpcodeRange kWithOperand[] = {{0x63, 0x63}, {0x69, 0x69}, {0x6b, 0x6b}, {0x80, 0x81},
                                          {0x83, 0x8b}, {0x8d, 0x8d}, {0xc0, 0xc1}, {0xc6, 0xc7},
                                          {0xd0, 0xd3}, {0xd8, 0xdf}};
  if (contains(kGroups, opcode.byte)) return of_group(opcode);
  if (!is_arithmetic(opcode) && !contains(kWithOperand, opcode.byte)) {
    return without_operand(opcode);
  }
  return opcode.has_memory_operand() ? of_operand(opcode) : kNone;
}

/// Those that are not vector instructions.
KnownAccesses of_general_0f(const X86Opcode& opcode) {
  constexpr OpcodeRange kNothing[] = {{0x18, 0x18}, {0x1e, 0x1f}, {0x0d, 0x0d}};  // hints
  constexpr OpcodeRange kNoModrm[] = {{0x31, 0x31}, {0x80, 0x8f}, {0xa2, 0xa2}, {0xc8, 0xcf}};
  constexpr OpcodeRange kWords[] = {{0x40, 0x4f}, {0xaf, 0xaf}, {0xbc, 0xbd}};
  constexpr OpcodeRange kExtended[] = {{0xb6, 0xb7}, {0xbe, 0xbf}};  // movz, movs
  constexpr OpcodeRange kSets[] = {{0x90, 0x9f}};
  const uint8_t byte = opcode.byte;
  if (contains(kNothing, byte) || contains(kNoModrm, byte)) return kNone;
  KnownAccesses accesses = kUnknown;
  if (contains(kSets, byte)) accesses = store_of(1);
  if (contains(kExtended, byte)) accesses = load_of((byte & 1) == 0 ? 1 : 2);
  const bool is_popcnt = byte == 0xb8 && opcode.mandatory == Mandatory::pf3;
  if (contains(kWords, byte) || is_popcnt) accesses = load_of(word_bytes(opcode));
  return accesses.is_known && !opcode.has_memory_operand() ? kNone : accesses;
}

KnownAccesses of_vector_0f(const X86Opcode& opcode) {
  const uint8_t byte = opcode.byte;
  const bool is_scalar = opcode.repeats();
  const bool is_66 = opcode.mandatory == Mandatory::p66;
  const uint8_t general = opcode.is_w ? 8 : 4;
  switch (byte) {
    case 0x10:  // movups, movupd, movss, movsd
    case 0x51:  // sqrt
      return load_of(float_bytes(opcode));
    case 0x11:
      return store_of(float_bytes(opcode));
    case 0x12:  // movlps, movhps
    case 0x16:
      return is_scalar ? kUnknown : load_of(8);
    case 0x13:
    case 0x17:
      return is_scalar ? kUnknown : store_of(8);
    case 0x14:  // unpcklps, unpckhps, movaps, and so on
    case 0x15:
    case 0x28:
    case 0x54:
    case 0x55:
    case 0x56:
    case 0x57:
    case 0xc6:
      return is_scalar ? kUnknown : load_of(vector_bytes(opcode));
    case 0x29:
    case 0x2b:
      return is_scalar ? kUnknown : store_of(vector_bytes(opcode));
    case 0x2a:  // from an integer
      return is_scalar ? load_of(general) : kUnknown;
    case 0x2c:  // to one
    case 0x2d:
      return is_scalar ? load_of(float_bytes(opcode)) : kUnknown;
    case 0x2e:  // ucomiss, ucomisd
    case 0x2f:
      return is_scalar ? kUnknown : load_of(is_66 ? 8 : 4);
    case 0x58:  // add, mul, sub, min, div, max, cmp
    case 0x59:
    case 0x5c:
    case 0x5d:
    case 0x5e:
    case 0x5f:
    case 0xc2:
      return load_of(float_bytes(opcode));
    case 0x5a:  // between float and double
      return is_scalar ? load_of(float_bytes(opcode)) : kUnknown;
    case 0x6e:
      return is_66 ? load_of(general) : kUnknown;
    case 0x6f:  // movdqa, movdqu
      return is_66 || opcode.mandatory == Mandatory::pf3 ? load_of(vector_bytes(opcode)) : kUnknown;
    case 0x7f:
      return is_66 || opcode.mandatory == Mandatory::pf3 ? store_of(vector_bytes(opcode))
                                                         : kUnknown;
    case 0x70:  // pshufd
      return opcode.mandatory == Mandatory::none ? kUnknown : load_of(vector_bytes(opcode));
    case 0x7e:
      if (opcode.mandatory == Mandatory::pf3) return load_of(8);
      return is_66 ? store_of(general) : kUnknown;
    case 0xd6:
      return is_66 ? store_of(8) : kUnknown;
    case 0xe6:  // to double from half a vector of integers
      return opcode.mandatory == Mandatory::pf3 ? narrow_load_of(vector_bytes(opcode) / 2)
                                                : kUnknown;
    case 0xe7:
      return is_66 ? store_of(vector_bytes(opcode)) : kUnknown;
    default:
      break;
  }
  // Shifts by a count, which is 16 bytes also where the vector is wider.
  constexpr OpcodeRange kShifts[] = {{0xd1, 0xd3}, {0xe1, 0xe2}, {0xf1, 0xf3}};
  if (is_66 && contains(kShifts, byte)) return narrow_load_of(16);
  constexpr OpcodeRange kIntegers[] = {{0x60, 0x6d}, {0x74, 0x76}, {0xd4, 0xd5}, {0xd8, 0xe0},
                                       {0xe3, 0xe5}, {0xe8, 0xef}, {0xf4, 0xf6}, {0xf8, 0xfe}};
  if (is_66 && contains(kIntegers, byte)) return load_of(vector_bytes(opcode));
  const bool is_low_half_of_mmx = byte >= 0x60 && byte <= 0x62;  // punpckl
  return opcode.mandatory == Mandatory::none && is_low_half_of_mmx ? narrow_load_of(4) : kUnknown;
}

bool is_vector_0f(const X86Opcode& opcode) {
  constexpr OpcodeRange kVectors[] = {{0x10, 0x17}, {0x28, 0x2f}, {0x50, 0x76}, {0x7c, 0x7f},
                                      {0xc2, 0xc2}, {0xc6, 0xc6}, {0xd0, 0xf6}, {0xf8, 0xfe}};
  return contains(kVectors, opcode.byte);
}

KnownAccesses of_0f(const X86Opcode& opcode) {
  if (!is_vector_0f(opcode)) {
    if (!opcode.is_vector) return of_general_0f(opcode);
    return opcode.byte == 0x77 ? kNone : kUnknown;  // vzeroupper
  }
  return opcode.has_memory_operand() ? of_vector_0f(opcode) : kNone;
}

KnownAccesses of_0f38(const X86Opcode& opcode) {
  // Fused multiplications and additions; odd ones are of scalars, but for those that alternate.
  constexpr OpcodeRange kFused[] = {{0x96, 0x9f}, {0xa6, 0xaf}, {0xb6, 0xbf}};
  if (!opcode.has_memory_operand()) return kNone;
  if (!opcode.is_vector || !contains(kFused, opcode.byte)) return kUnknown;
  const int low = opcode.byte & 15;
  const bool is_scalar = low >= 9 && (low & 1) != 0;
  return is_scalar ? narrow_load_of(opcode.is_w ? 8 : 4) : load_of(vector_bytes(opcode));
}

bool is_float_a64(uint32_t word) {
  return (word & 0x04000000) != 0;
}

KnownAccesses of_one_register(uint32_t word) {
  const uint32_t size = word >> 30;
  const uint32_t operation = word >> 22 & 3;
  if (is_float_a64(word) && operation >= 2) {
    if (size != 0) return kUnknown;
    return operation == 2 ? store_of(16) : load_of(16);
  }
  const bool is_prefetch = !is_float_a64(word) && size == 3 && operation >= 2;
  if (is_prefetch) return kUnknown;
  const auto bytes = static_cast<uint8_t>(1U << size);
  return operation == 0 ? store_of(bytes) : load_of(bytes);
}

KnownAccesses of_two_registers(uint32_t word) {
  const uint32_t size = word >> 30;
  if (size == 3 || (!is_float_a64(word) && size == 1)) return kUnknown;
  const auto bytes = static_cast<uint8_t>(is_float_a64(word) ? 8U << size : 8U << (size / 2));
  KnownAccesses accesses = (word & 0x00400000) != 0 ? load_of(bytes) : store_of(bytes);
  accesses.in_parts = true;
  return accesses;
}

/// movs and stos with a repeat prefix, by the registers of 64 bits.
bool is_repeated_move(const X86Opcode& opcode) {
  constexpr OpcodeRange kMoves[] = {{0xa4, 0xa5}, {0xaa, 0xab}};
  return opcode.repeats() && !opcode.has_67 && is_string(opcode) && contains(kMoves, opcode.byte);
}

KnownAccesses of_repeated_move(const X86Opcode& opcode) {
  const uint8_t bytes = byte_or_word(opcode);
  const bool copies = opcode.byte < 0xaa;
  return {.load_bytes = copies ? bytes : uint8_t{0}, .store_bytes = bytes, .repeats = true};
}

}  // namespace

KnownAccesses find_accesses(const X86Opcode& opcode) {
  if (opcode.is_locked || opcode.is_evex) return kUnknown;
  if (is_repeated_move(opcode)) return of_repeated_move(opcode);
  switch (opcode.map) {
    case Map::one_byte:
      return of_one_byte_map(opcode);
    case Map::map_0f:
      return of_0f(opcode);
    case Map::map_0f38:
      return of_0f38(opcode);
    case Map::map_0f3a:
      return opcode.has_memory_operand() ? kUnknown : kNone;
  }
  return kUnknown;
}

// Arm Architecture Reference Manual, "Loads and stores".
KnownAccesses find_accesses_a64(uint32_t word) {
  const uint32_t group = word >> 25 & 15;
  const bool is_arithmetic = (group & 14) == 8 || (group & 5) == 5;
  if (is_arithmetic) return kNone;
  const bool has_offset = (word & 0x3b000000) == 0x39000000;
  const bool has_short_offset = (word & 0x3b200000) == 0x38000000;
  const bool has_index = (word & 0x3b200c00) == 0x38200800;
  if (has_offset || has_short_offset || has_index) return of_one_register(word);
  return (word & 0x3a000000) == 0x28000000 ? of_two_registers(word) : kUnknown;
}

}  // namespace culprit::counting
