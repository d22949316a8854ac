#include "code/blocks.h"

#include <algorithm>

#include "code/find_instruction.h"

namespace culprit {

namespace {

bool ends_block(Flow flow) {
  return flow != Flow::next && flow != Flow::call;
}

/// Marks the instruction that begins at `target`; jumps into the middle of one mark none.
void mark_target(std::span<const Instruction> instructions, LinkAddress target,
                 std::vector<bool>& is_leader) {
  const Instruction* const found = find_instruction(instructions, target);
  if (found != nullptr) is_leader[static_cast<size_t>(found - instructions.data())] = true;
}

}  // namespace

std::vector<Block> find_blocks(std::span<const Instruction> instructions,
                               std::span<const LinkAddress> leaders) {
  if (instructions.empty()) return {};
  std::vector<bool> is_leader(instructions.size());
  is_leader[0] = true;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& instruction = instructions[i];
    if (i + 1 < instructions.size() &&
        (ends_block(instruction.flow) || instruction.end() != instructions[i + 1].address)) {
      is_leader[i + 1] = true;
    }
    const bool jumps = instruction.flow == Flow::jump || instruction.flow == Flow::branch;
    if (jumps && instruction.target) mark_target(instructions, *instruction.target, is_leader);
  }

  for (const LinkAddress leader : leaders) mark_target(instructions, leader, is_leader);

  std::vector<Block> blocks;
  for (size_t i = 0; i < instructions.size(); ++i) {
    if (is_leader[i]) blocks.push_back({instructions[i].address, {}, i, i});
    blocks.back().last = i + 1;
    blocks.back().end = instructions[i].end();
  }
  return blocks;
}

std::optional<size_t> find_block(std::span<const Block> blocks, LinkAddress address) {
  const auto after =
      std::upper_bound(blocks.begin(), blocks.end(), address,
                       [](LinkAddress at, const Block& block) { return at < block.begin; });
  if (after == blocks.begin() || address >= std::prev(after)->end) return std::nullopt;
  return static_cast<size_t>(std::prev(after) - blocks.begin());
}

}  // namespace culprit
