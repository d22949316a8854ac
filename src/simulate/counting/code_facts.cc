#include "simulate/counting/code_facts.h"

namespace culprit::counting {
namespace {

using counts_file::ControlFlow;
using counts_file::kEvex;
using counts_file::kFloat;
using counts_file::kRepeats;
using counts_file::kWide;
using Map = X86Opcode::Map;

// Floating-point instructions of the SSE and AVX maps (Intel SDM volume 2, appendix A).
// Moves of whole registers (movaps) count as floating point, as their names say.
constexpr OpcodeRange kFloat0f[] = {{0x10, 0x17}, {0x28, 0x2f}, {0x50, 0x5f}, {0x7c, 0x7d},
                                    {0xc2, 0xc2}, {0xc6, 0xc6}, {0xd0, 0xd0}, {0xe6, 0xe6}};
constexpr OpcodeRange kFloat0f38[] = {{0x0c, 0x0f}, {0x13, 0x13}, {0x16, 0x16},
                                      {0x18, 0x1a}, {0x2c, 0x2f}, {0x92, 0x93},
                                      {0x96, 0x9f}, {0xa6, 0xaf}, {0xb6, 0xbf}};
constexpr OpcodeRange kFloat0f3a[] = {{0x04, 0x06}, {0x08, 0x0d}, {0x17, 0x19}, {0x1d, 0x1d},
                                      {0x21, 0x21}, {0x40, 0x41}, {0x4a, 0x4b}};

ControlFlow branch_of_group_5(const X86Opcode& opcode) {
  switch (opcode.extension()) {
    case 2:
    case 3:
      return ControlFlow::indirect_call;
    case 4:
    case 5:
      return ControlFlow::indirect_jump;
    default:
      return ControlFlow::none;
  }
}

ControlFlow branch_of(const X86Opcode& opcode) {
  if (opcode.is_vector) return ControlFlow::none;
  const uint8_t byte = opcode.byte;
  if (opcode.map == Map::map_0f) {
    if (byte >= 0x80 && byte <= 0x8f) return ControlFlow::conditional;
    return byte == 0x05 || byte == 0x34 ? ControlFlow::system_call : ControlFlow::none;
  }
  if (opcode.map != Map::one_byte) return ControlFlow::none;
  if (byte >= 0x70 && byte <= 0x7f) return ControlFlow::conditional;
  if (byte >= 0xe0 && byte <= 0xe3) return ControlFlow::conditional;  // loop, jrcxz
  switch (byte) {
    case 0xe8:
      return ControlFlow::call;
    case 0xe9:
    case 0xeb:
      return ControlFlow::jump;
    case 0xc2:
    case 0xc3:
    case 0xca:
    case 0xcb:
      return ControlFlow::returns;
    case 0xcd:
      return ControlFlow::system_call;
    case 0xff:
      return branch_of_group_5(opcode);
    default:
      return ControlFlow::none;
  }
}

/// How far behind its end a direct branch goes, as its last bytes say; 0 for others.
int32_t displacement_of(ControlFlow branch, const X86Opcode& opcode,
                        std::span<const uint8_t> code) {
  const bool is_direct = branch == ControlFlow::conditional || branch == ControlFlow::jump ||
                         branch == ControlFlow::call;
  if (!is_direct) return 0;
  const bool is_near = opcode.map == Map::map_0f || opcode.byte == 0xe8 || opcode.byte == 0xe9;
  const size_t bytes = is_near ? 4 : 1;
  if (code.size() <= bytes) return 0;
  uint32_t distance = 0;
  for (size_t i = 0; i < bytes; ++i) {
    distance |= uint32_t{code[code.size() - bytes + i]} << (8 * i);
  }
  if (!is_near) distance = static_cast<uint32_t>(static_cast<int8_t>(distance));
  return static_cast<int32_t>(distance + static_cast<uint32_t>(code.size()));
}

bool is_float(const X86Opcode& opcode) {
  switch (opcode.map) {
    case Map::one_byte:
      return opcode.byte >= 0xd8 && opcode.byte <= 0xdf;  // x87
    case Map::map_0f:
      return contains(kFloat0f, opcode.byte);
    case Map::map_0f38:
      return opcode.is_vector ? contains(kFloat0f38, opcode.byte) : false;
    case Map::map_0f3a:
      return contains(kFloat0f3a, opcode.byte);
  }
  return false;
}

}  // namespace

CodeFacts decode_x86_64(std::span<const uint8_t> code) {
  const X86Opcode opcode = decode_x86_opcode(code);
  CodeFacts facts;
  facts.branch = branch_of(opcode);
  facts.displacement = displacement_of(facts.branch, opcode, code);
  if (is_float(opcode)) facts.flags |= kFloat;
  if (opcode.repeats() && is_string(opcode)) facts.flags |= kRepeats;
  if (opcode.is_evex) facts.flags |= kEvex;
  if (opcode.is_vector) facts.flags |= kWide;
  facts.accesses = find_accesses(opcode);
  return facts;
}

namespace {

/// A signed field of an instruction that counts instructions.
int32_t displacement_of(uint32_t word, uint32_t first_bit, uint32_t bits) {
  if (bits == 0) return 0;
  const uint32_t at_top = word << (32 - first_bit - bits);
  return static_cast<int32_t>(at_top) >> (32 - bits) << 2;
}

}  // namespace

// Arm Architecture Reference Manual, "A64 instruction set encoding".
CodeFacts decode_aarch64(std::span<const uint8_t> code) {
  CodeFacts facts;
  if (code.size() < 4) return facts;
  const uint32_t word = static_cast<uint32_t>(code[0]) | static_cast<uint32_t>(code[1]) << 8 |
                        static_cast<uint32_t>(code[2]) << 16 | static_cast<uint32_t>(code[3]) << 24;
  struct Pattern {
    uint32_t mask;
    uint32_t value;
    ControlFlow branch;
    uint32_t first_bit = 0;  // of the displacement, in instructions
    uint32_t bits = 0;
  };
  constexpr Pattern kPatterns[] = {
      {0xff000000, 0x54000000, ControlFlow::conditional, 5, 19},  // b.cond, bc.cond
      {0x7e000000, 0x34000000, ControlFlow::conditional, 5, 19},  // cbz, cbnz
      {0x7e000000, 0x36000000, ControlFlow::conditional, 5, 14},  // tbz, tbnz
      {0xfc000000, 0x14000000, ControlFlow::jump, 0, 26},         // b
      {0xfc000000, 0x94000000, ControlFlow::call, 0, 26},         // bl
      {0xfefff800, 0xd61f0800, ControlFlow::indirect_jump},       // braa, brab
      {0xfffff000, 0xd61f0000, ControlFlow::indirect_jump},       // br, braaz
      {0xfefff800, 0xd63f0800, ControlFlow::indirect_call},       // blraa
      {0xfffff000, 0xd63f0000, ControlFlow::indirect_call},       // blr
      {0xfffff000, 0xd65f0000, ControlFlow::returns},             // ret, retaa
      {0xffe0001f, 0xd4000001, ControlFlow::system_call},         // svc
  };
  for (const Pattern& pattern : kPatterns) {
    if ((word & pattern.mask) != pattern.value) continue;
    facts.branch = pattern.branch;
    facts.displacement = displacement_of(word, pattern.first_bit, pattern.bits);
  }
  // Bit 26 tells the vector forms of loads and stores; op0 = x111 is scalar FP and SIMD.
  const bool is_memory = (word & 0x0a000000) == 0x08000000;
  const bool is_vector_memory = is_memory && (word & 0x04000000) != 0;
  const bool is_scalar_float = (word & 0x0e000000) == 0x0e000000;
  const bool is_sve = (word & 0x1e000000) == 0x04000000;
  if (is_vector_memory || is_scalar_float) facts.flags |= kFloat;
  if (is_sve) facts.flags |= kWide;
  const bool is_branch = facts.branch != ControlFlow::none;
  facts.accesses = is_branch ? KnownAccesses{.is_known = true} : find_accesses_a64(word);
  return facts;
}

DecodeFunction find_decoder(std::string_view target) {
  if (target == "x86_64") return decode_x86_64;
  if (target == "aarch64") return decode_aarch64;
  return nullptr;
}

}  // namespace culprit::counting
