#include "simulate/counting/x86_opcode.h"

namespace culprit::counting {
namespace {

using Map = X86Opcode::Map;
using Mandatory = X86Opcode::Mandatory;

class Bytes {
 public:
  explicit Bytes(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  uint8_t peek() const { return at_ < bytes_.size() ? bytes_[at_] : 0; }
  uint8_t take() { return at_ < bytes_.size() ? bytes_[at_++] : 0; }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

/// Whether the byte is a prefix, and then what it says.
bool take_prefix(uint8_t byte, X86Opcode& opcode) {
  switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
      return true;
    case 0x67:
      opcode.has_67 = true;
      return true;
    case 0x66:
      opcode.has_66 = true;
      return true;
    case 0xf0:
      opcode.is_locked = true;
      return true;
    case 0xf2:
    case 0xf3:
      opcode.mandatory = byte == 0xf2 ? Mandatory::pf2 : Mandatory::pf3;
      return true;
    default:
      return false;
  }
}

/// `number` as VEX and EVEX write it.
Map map_of(unsigned number) {
  return number == 3 ? Map::map_0f3a : number == 2 ? Map::map_0f38 : Map::map_0f;
}
Mandatory mandatory_of(unsigned number) {
  constexpr Mandatory kByNumber[] = {Mandatory::none, Mandatory::p66, Mandatory::pf3,
                                     Mandatory::pf2};
  return kByNumber[number & 3];
}

/// C4, C5 or 62 is followed by bytes with map and prefixes, the last of which ends in L (of EVEX it
/// does not) and the mandatory prefix.
void take_vector_opcode(uint8_t prefix, Bytes& bytes, X86Opcode& opcode) {
  opcode.is_vector = true;
  opcode.is_evex = prefix == 0x62;
  opcode.map = Map::map_0f;
  if (prefix != 0xc5) opcode.map = map_of(bytes.take() & (opcode.is_evex ? 7 : 31));
  const uint8_t last = bytes.take();
  opcode.is_w = prefix != 0xc5 && (last & 0x80) != 0;
  opcode.is_l = !opcode.is_evex && (last & 4) != 0;
  opcode.mandatory = mandatory_of(last);
  if (opcode.is_evex) bytes.take();
  opcode.byte = bytes.take();
  opcode.modrm = bytes.peek();
}

}  // namespace

X86Opcode decode_x86_opcode(std::span<const uint8_t> code) {
  Bytes bytes(code);
  X86Opcode opcode;
  while (take_prefix(bytes.peek(), opcode)) bytes.take();
  // F2 and F3 go before 66, where they choose the instruction.
  if (opcode.has_66 && opcode.mandatory == Mandatory::none) opcode.mandatory = Mandatory::p66;
  if ((bytes.peek() & 0xf0) == 0x40) opcode.is_w = (bytes.take() & 8) != 0;  // REX
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

}  // namespace culprit::counting
