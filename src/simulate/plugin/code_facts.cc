#include "simulate/plugin/code_facts.h"

#include <algorithm>
#include <iterator>

namespace culprit {
namespace {

using counts_file::Branch;
using counts_file::kEvex;
using counts_file::kFloat;
using counts_file::kOneAccess;
using counts_file::kRepeats;
using counts_file::kWide;

enum class Map : uint8_t { one_byte, map_0f, map_0f38, map_0f3a };

/// An x86-64 instruction up to its opcode.
struct Opcode {
  Map map = Map::one_byte;
  uint8_t byte = 0;
  uint8_t modrm = 0;
  bool repeats = false;    // F2 or F3
  bool is_vector = false;  // VEX or EVEX
  bool is_evex = false;
};

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

// Floating-point instructions of the SSE and AVX maps (Intel SDM volume 2, appendix A).
// Moves of whole registers (movaps) count as floating point, as their names say.
constexpr OpcodeRange kFloat0f[] = {{0x10, 0x17}, {0x28, 0x2f}, {0x50, 0x5f}, {0x7c, 0x7d},
                                    {0xc2, 0xc2}, {0xc6, 0xc6}, {0xd0, 0xd0}, {0xe6, 0xe6}};
constexpr OpcodeRange kFloat0f38[] = {{0x0c, 0x0f}, {0x13, 0x13}, {0x16, 0x16},
                                      {0x18, 0x1a}, {0x2c, 0x2f}, {0x92, 0x93},
                                      {0x96, 0x9f}, {0xa6, 0xaf}, {0xb6, 0xbf}};
constexpr OpcodeRange kFloat0f3a[] = {{0x04, 0x06}, {0x08, 0x0d}, {0x17, 0x19}, {0x1d, 0x1d},
                                      {0x21, 0x21}, {0x40, 0x41}, {0x4a, 0x4b}};

bool is_prefix(uint8_t byte) {
  constexpr uint8_t kPrefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
                                   0x66, 0x67, 0xf0, 0xf2, 0xf3};
  return std::find(std::begin(kPrefixes), std::end(kPrefixes), byte) != std::end(kPrefixes);
}

class Bytes {
 public:
  explicit Bytes(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  uint8_t peek() const { return at_ < bytes_.size() ? bytes_[at_] : 0; }
  uint8_t take() { return at_ < bytes_.size() ? bytes_[at_++] : 0; }
  void skip(size_t bytes) { at_ = std::min(bytes_.size(), at_ + bytes); }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

Map map_of_number(unsigned number) {
  return number == 3 ? Map::map_0f3a : number == 2 ? Map::map_0f38 : Map::map_0f;
}

/// After C4, C5 or 62: the map is named in the prefix.
void take_vector_opcode(uint8_t prefix, Bytes& bytes, Opcode& opcode) {
  opcode.is_vector = true;
  opcode.is_evex = prefix == 0x62;
  opcode.map =
      prefix == 0xc5 ? Map::map_0f : map_of_number(bytes.peek() & (prefix == 0x62 ? 7 : 31));
  bytes.skip(prefix == 0xc5 ? 1 : prefix == 0xc4 ? 2 : 3);
  opcode.byte = bytes.take();
  opcode.modrm = bytes.peek();
}

Opcode take_opcode(std::span<const uint8_t> code) {
  Bytes bytes(code);
  Opcode opcode;
  while (is_prefix(bytes.peek())) {
    const uint8_t prefix = bytes.take();
    opcode.repeats = opcode.repeats || prefix == 0xf2 || prefix == 0xf3;
  }
  if ((bytes.peek() & 0xf0) == 0x40) bytes.skip(1);  // REX
  uint8_t byte = bytes.take();
  if (byte == 0xc4 || byte == 0xc5 || byte == 0x62) {
    take_vector_opcode(byte, bytes, opcode);
    return opcode;
  }
  if (byte == 0x0f) {
    opcode.map = Map::map_0f;
    byte = bytes.take();
    if (byte == 0x38 || byte == 0x3a) {
      opcode.map = byte == 0x38 ? Map::map_0f38 : Map::map_0f3a;
      byte = bytes.take();
    }
  }
  opcode.byte = byte;
  opcode.modrm = bytes.peek();
  return opcode;
}

Branch branch_of_group_5(uint8_t modrm) {
  switch ((modrm >> 3) & 7) {
    case 2:
    case 3:
      return Branch::indirect_call;
    case 4:
    case 5:
      return Branch::indirect_jump;
    default:
      return Branch::none;
  }
}

Branch branch_of(const Opcode& opcode) {
  if (opcode.is_vector) return Branch::none;
  const uint8_t byte = opcode.byte;
  if (opcode.map == Map::map_0f) {
    if (byte >= 0x80 && byte <= 0x8f) return Branch::conditional;
    return byte == 0x05 || byte == 0x34 ? Branch::system_call : Branch::none;
  }
  if (opcode.map != Map::one_byte) return Branch::none;
  if (byte >= 0x70 && byte <= 0x7f) return Branch::conditional;
  if (byte >= 0xe0 && byte <= 0xe3) return Branch::conditional;  // loop, jrcxz
  switch (byte) {
    case 0xe8:
      return Branch::call;
    case 0xe9:
    case 0xeb:
      return Branch::jump;
    case 0xc2:
    case 0xc3:
    case 0xca:
    case 0xcb:
      return Branch::returns;
    case 0xcd:
      return Branch::system_call;
    case 0xff:
      return branch_of_group_5(opcode.modrm);
    default:
      return Branch::none;
  }
}

bool is_float(const Opcode& opcode) {
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

bool is_string(const Opcode& opcode) {
  const uint8_t byte = opcode.byte;
  return opcode.map == Map::one_byte && !opcode.is_vector &&
         ((byte >= 0xa4 && byte <= 0xa7) || (byte >= 0xaa && byte <= 0xaf) ||
          (byte >= 0x6c && byte <= 0x6f));
}

/// Two-byte instructions whose operands in memory have 8 bytes at most.
constexpr OpcodeRange kNarrow0f[] = {{0x40, 0x4f},                              // cmov
                                     {0x90, 0x9f},                              // set
                                     {0xaf, 0xaf},                              // imul
                                     {0xb6, 0xb7},                              // movzx
                                     {0xbe, 0xbf}};                             // movsx
constexpr OpcodeRange kScalar0f[] = {{0x10, 0x11}, {0x2a, 0x2a}, {0x2c, 0x2d},  // with F2 or F3
                                     {0x51, 0x51}, {0x58, 0x5a}, {0x5c, 0x5f}};

/// What they read or write fits into a general register, or is a floating-point scalar.
bool has_one_access(const Opcode& opcode) {
  constexpr OpcodeRange kOther[] = {{0x9a, 0x9b},   // far call, fwait
                                    {0xc8, 0xcb},   // enter, leave, far returns
                                    {0xcc, 0xcf},   // interrupts
                                    {0xd8, 0xdf}};  // x87
  if (opcode.is_vector || is_string(opcode)) return false;
  if (opcode.map == Map::map_0f) {
    return contains(kNarrow0f, opcode.byte) || (opcode.repeats && contains(kScalar0f, opcode.byte));
  }
  if (opcode.map != Map::one_byte) return false;
  const int extension = opcode.modrm >> 3 & 7;
  const bool is_far_by_memory = opcode.byte == 0xff && (extension == 3 || extension == 5);
  return !contains(kOther, opcode.byte) && !is_far_by_memory;
}

}  // namespace

CodeFacts decode_x86_64(std::span<const uint8_t> code) {
  const Opcode opcode = take_opcode(code);
  CodeFacts facts;
  facts.branch = branch_of(opcode);
  if (is_float(opcode)) facts.flags |= kFloat;
  if (opcode.repeats && is_string(opcode)) facts.flags |= kRepeats;
  if (opcode.is_evex) facts.flags |= kEvex;
  if (has_one_access(opcode)) facts.flags |= kOneAccess;
  if (opcode.is_vector) facts.flags |= kWide;
  return facts;
}

// Arm Architecture Reference Manual, "A64 instruction set encoding".
CodeFacts decode_aarch64(std::span<const uint8_t> code) {
  CodeFacts facts;
  if (code.size() < 4) return facts;
  const uint32_t word = static_cast<uint32_t>(code[0]) | static_cast<uint32_t>(code[1]) << 8 |
                        static_cast<uint32_t>(code[2]) << 16 | static_cast<uint32_t>(code[3]) << 24;
  struct Pattern {
    uint32_t mask;
    uint32_t value;
    Branch branch;
  };
  constexpr Pattern kPatterns[] = {
      {0xff000000, 0x54000000, Branch::conditional},    // b.cond, bc.cond
      {0x7e000000, 0x34000000, Branch::conditional},    // cbz, cbnz
      {0x7e000000, 0x36000000, Branch::conditional},    // tbz, tbnz
      {0xfc000000, 0x14000000, Branch::jump},           // b
      {0xfc000000, 0x94000000, Branch::call},           // bl
      {0xfefff800, 0xd61f0800, Branch::indirect_jump},  // braa, brab
      {0xfffff000, 0xd61f0000, Branch::indirect_jump},  // br, braaz
      {0xfefff800, 0xd63f0800, Branch::indirect_call},  // blraa
      {0xfffff000, 0xd63f0000, Branch::indirect_call},  // blr
      {0xfffff000, 0xd65f0000, Branch::returns},        // ret, retaa
      {0xffe0001f, 0xd4000001, Branch::system_call},    // svc
  };
  for (const Pattern& pattern : kPatterns) {
    if ((word & pattern.mask) == pattern.value) facts.branch = pattern.branch;
  }
  // Bit 26 tells the vector forms of loads and stores; op0 = x111 is scalar FP and SIMD.
  const bool is_memory = (word & 0x0a000000) == 0x08000000;
  const bool is_vector_memory = is_memory && (word & 0x04000000) != 0;
  const bool is_scalar_float = (word & 0x0e000000) == 0x0e000000;
  const bool is_sve = (word & 0x1e000000) == 0x04000000;
  if (is_vector_memory || is_scalar_float) facts.flags |= kFloat;
  if (is_sve) facts.flags |= kWide;
  return facts;
}

DecodeFunction find_decoder(std::string_view target) {
  if (target == "x86_64") return decode_x86_64;
  if (target == "aarch64") return decode_aarch64;
  return nullptr;
}

}  // namespace culprit
