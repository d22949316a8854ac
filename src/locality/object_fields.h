#pragma once

// The members of a data object whose type is known, and which of them each instruction accesses:
//
//     struct node { double at[3]; struct node* next; int mark; };     48 B in a block of 8 of them
//
//     12a4  mov 0x18(%rax),%rax    seen at 24, and then 48 apart: next
//     12b0  movups %xmm0,(%rdi)    seen at 0, and then 16 apart: several
//     12b8  movups 0x10(%rax),%xmm1   seen at 16, and then 48 apart, 16 B: at[2] to next
//
// Where an instruction accesses is known by some of its accesses (AccessOffset).

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "attribute/code_index.h"
#include "locality/use.h"

namespace culprit {

struct ObjectLayout {
  const ImageFacts* facts = nullptr;
  std::span<const FieldFact> members;  // of one element; empty: the type is not known
  [[nodiscard]] bool is_known() const { return !members.empty(); }
  /// Whether there are members to tell apart.
  [[nodiscard]] bool is_struct() const { return members.size() > 1; }
  [[nodiscard]] const std::string& type() const;
  [[nodiscard]] uint64_t element_bytes() const { return members.front().element_bytes; }
};

/// A variable is known by its place, one on the stack by its function and name, blocks by the
/// innermost call that tells a type. A type that is larger than the variable of the stack, or than
/// the blocks, is not theirs.
ObjectLayout find_layout(CodeIndex& code, ObjectId object);

/// What was done to a member.
struct FieldUse {
  std::string name;  // "who.id", "x to y", "[padding]", "[several members]", "[not known which]"
  std::string type;
  uint64_t offset = 0;
  uint64_t size_bytes = 0;  // 0: no member
  bool is_padding = false;
  bool is_span = false;  // several members at once: an access is wider than the first of them
  Use use;

  [[nodiscard]] bool covers(const FieldUse& other) const {
    return other.offset < offset + size_bytes && offset < other.offset + other.size_bytes;
  }
};

/// The members of an object, and which of them each instruction accesses.
struct ObjectMembers {
  std::vector<FieldUse> fields;  // nothing is added to their uses yet; empty: no struct
  uint32_t several = 0;          // the row of what is at several members
  uint32_t unknown = 0;          // of what was not seen
  std::unordered_map<Location, uint32_t> row_of_instruction;

  [[nodiscard]] uint32_t row_of(const Location& at) const {
    const auto found = row_of_instruction.find(at);
    return found == row_of_instruction.end() ? unknown : found->second;
  }
};
ObjectMembers find_members(CodeIndex& code, ObjectId object);

/// Members stand in the order of their places, those that nothing was done to as well, and behind a
/// member those that are accessed together with it; what is of no one member comes last. Their sum
/// is the object's. Empty: no struct.
std::vector<FieldUse> find_field_uses(CodeIndex& code, ObjectId object, const UseEvents& events);

/// Places in an object, as an AccessOffset has them.
struct SeenPlaces {
  uint64_t offset = 0;
  uint64_t stride = 0;  // 0: all were at `offset`
  uint64_t span = 0;

  /// Whether all of them are known to be in one element of that size.
  [[nodiscard]] bool are_in_one(uint64_t element_bytes) const {
    const bool is_known = span != 0 || stride == 0;
    return is_known && span < element_bytes && offset % element_bytes < element_bytes - span;
  }
};

/// The member that accesses at these places are all to, of those of one element; members.size():
/// they are to several.
size_t find_member_at(std::span<const FieldFact> members, const SeenPlaces& seen);

}  // namespace culprit
