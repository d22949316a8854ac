#pragma once

// Where the indirect jumps of a function go to, where that stands in tables that the compiler
// made for `switch` and computed goto:
//
//     cmp    $0x9,%edi           a bound of the index: 9
//     ja     1217
//     lea    0xe08(%rip),%rdx    the table
//     movslq (%rdx,%rdi,4),%rax  an entry: the distance from the table
//     add    %rdx,%rax
//     jmp    *%rax               ten targets
//
// Registers and stack slots are followed as expressions over the whole function, so that a table
// or a bound may stand far from its jump (out of a loop, spilled), in whatever form: distances of
// 1, 2 or 4 bytes from the table or from code, scaled or not, and addresses.

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "code/effects.h"
#include "code/instruction.h"

namespace culprit {

struct JumpTable {
  LinkAddress from;                  // the jump
  std::vector<LinkAddress> targets;  // ascending, each once; some may be outside of the function
  /// The index has a bound that the code tests: there are no other targets.
  bool is_complete = false;
};

/// What the loaded image holds: `bytes` (1 to 8) at an address, little-endian; none where it
/// holds nothing.
using ReadImage = std::function<std::optional<uint64_t>(LinkAddress, uint8_t bytes)>;

inline constexpr size_t kLongestJumpTable = 65536;  // entries
/// Functions of more instructions are left alone.
inline constexpr size_t kMostFollowedInstructions = 400000;

/// Shape:  one effect per instruction; instructions of one function, ascending
/// Errors: jumps that are not understood have no table. That calls keep what they must is
///         believed (System V and AAPCS64), and that slots of the stack are written by their
///         own names only
std::vector<JumpTable> find_jump_tables(std::span<const Instruction> instructions,
                                        std::span<const Effect> effects, bool is_x86,
                                        const ReadImage& read);

}  // namespace culprit
