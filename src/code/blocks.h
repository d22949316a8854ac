#pragma once

// Basic blocks: runs of instructions that are entered only at their first and
// left only at their last.
//
//     12a0  mov          ─┐ block 0 [0, 2)
//     12a3  je   12a8    ─┘
//     12a5  inc          ── block 1 [2, 3)
//     12a8  ret          ── block 2 [3, 4)   a branch target begins a block
//
// A call does not end a block: control comes back. The edges between blocks
// follow from each block's last instruction (its flow and target).

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "code/instruction.h"

namespace culprit {

struct Block {
  LinkAddress begin;  // of its first instruction
  LinkAddress end;    // behind its last
  size_t first = 0;   // instructions [first, last) of the function
  size_t last = 0;
  friend bool operator==(const Block&, const Block&) = default;
};

/// The blocks of one function; `instructions` ascend. Every instruction belongs to
/// exactly one block; a gap between instructions ends one. Blocks begin at `leaders` (ascending),
/// too: where jumps go to by a table, and behind calls that never come back.
std::vector<Block> find_blocks(std::span<const Instruction> instructions,
                               std::span<const LinkAddress> leaders = {});

/// The index of the block that holds `address`; none outside.
std::optional<size_t> find_block(std::span<const Block> blocks, LinkAddress address);

}  // namespace culprit
