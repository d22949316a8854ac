#include "patch/moved_code.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <optional>

namespace culprit {
namespace {

using namespace std::string_view_literals;

/// Where the displacement is in the instruction's bytes; nullopt: nowhere, or in several places.
std::optional<size_t> find_displacement(std::string_view bytes, int32_t displacement) {
  char wanted[sizeof displacement];
  std::memcpy(wanted, &displacement, sizeof wanted);
  const std::string_view pattern(wanted, sizeof wanted);
  const size_t first = bytes.find(pattern);
  if (first == bytes.npos || bytes.find(pattern, first + 1) != bytes.npos) return std::nullopt;
  return first;
}

class Mover {
 public:
  explicit Mover(LinkAddress begin) : begin_(begin) {}

  /// False: it cannot be moved.
  bool add(const Instruction& instruction, std::string_view bytes) {
    moved_.replaced += instruction.size;
    if (instruction.bad) return false;
    switch (instruction.flow) {
      case Flow::next:
      case Flow::returns:
        return !instruction.target && add_plain(instruction, bytes);
      case Flow::call:
        return add_call(instruction, bytes);
      case Flow::jump:
        return instruction.target && add_jump("\xe9"sv, *instruction.target);
      case Flow::branch:
        return add_branch(instruction, bytes);
      case Flow::indirect_jump:
      case Flow::trap:
        break;
    }
    return false;
  }
  [[nodiscard]] const MovedCode& moved() const { return moved_; }

 private:
  [[nodiscard]] int64_t from_begin(LinkAddress target) const {
    return static_cast<int64_t>(target.value - begin_.value);
  }
  void add_reference(size_t at, size_t behind, LinkAddress target) {
    moved_.references.push_back({at, behind, false, from_begin(target)});
  }

  bool add_plain(const Instruction& instruction, std::string_view bytes) {
    if (instruction.data_address) {
      const uint64_t distance = instruction.data_address->value - instruction.end().value;
      const auto place = find_displacement(bytes, static_cast<int32_t>(distance));
      if (!place) return false;
      add_reference(moved_.bytes.size() + *place, bytes.size() - *place - sizeof(int32_t),
                    *instruction.data_address);
    }
    moved_.bytes += bytes;
    return true;
  }

  bool add_jump(std::string_view opcode, LinkAddress target) {
    moved_.bytes += opcode;
    add_reference(moved_.bytes.size(), 0, target);
    moved_.bytes.append(sizeof(int32_t), '\0');
    return true;
  }

  /// push 2(%rip); jmp over its 8 bytes; jmp to the target, or to what a pointer holds.
  bool add_call(const Instruction& instruction, std::string_view bytes) {
    const bool by_pointer = instruction.data_address && bytes.starts_with("\xff\x15"sv);
    if (!instruction.target && !by_pointer) return false;
    moved_.bytes += "\xff\x35\x02\0\0\0\xeb\x08"sv;
    moved_.references.push_back({moved_.bytes.size(), 0, true, from_begin(instruction.end())});
    moved_.bytes.append(sizeof(uint64_t), '\0');
    return by_pointer ? add_jump("\xff\x25"sv, *instruction.data_address)
                      : add_jump("\xe9"sv, *instruction.target);
  }

  /// With a displacement of 32 bits, whatever it had. Those that have a short one only stay.
  bool add_branch(const Instruction& instruction, std::string_view bytes) {
    if (!instruction.target || bytes.empty()) return false;
    const auto first = static_cast<uint8_t>(bytes[0]);
    const bool is_short = (first & 0xf0) == 0x70;
    const bool is_long = first == 0x0f && bytes.size() == 6;
    if (!is_short && !is_long) return false;
    const auto condition = static_cast<uint8_t>(is_short ? first : bytes[1]) & 0x0f;
    const char opcode[] = {'\x0f', static_cast<char>(0x80 | condition)};
    return add_jump({opcode, sizeof opcode}, *instruction.target);
  }

  LinkAddress begin_;
  MovedCode moved_;
};

}  // namespace

Result<MovedCode> plan_move(const Decoder& decoder, std::string_view function, LinkAddress begin) {
  const std::vector<Instruction> code = decoder.decode(function, begin, Detail::operands);
  Mover mover(begin);
  for (const Instruction& instruction : code) {
    const size_t at = mover.moved().replaced;
    if (at >= kJumpBytes) break;
    if (!mover.add(instruction, function.substr(at, instruction.size))) {
      return Error{"begins with an instruction that cannot be moved"};
    }
  }
  const MovedCode& moved = mover.moved();
  if (moved.replaced < kJumpBytes) {
    return Error{fmt::format("is shorter than {} bytes", kJumpBytes)};
  }
  const LinkAddress end = begin + moved.replaced;
  const bool is_jumped_to = std::ranges::any_of(code, [&](const Instruction& one) {
    return one.flow != Flow::call && one.target && *one.target >= begin && *one.target < end;
  });
  if (is_jumped_to) return Error{"jumps back to its own beginning"};
  return moved;
}

}  // namespace culprit
