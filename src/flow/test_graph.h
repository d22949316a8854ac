#pragma once

// Graphs for tests: of random edges, and of the code of made-up functions.

#include <random>
#include <string>
#include <vector>

#include "attribute/disassembly.h"
#include "flow/code_flow.h"

namespace culprit {

/// Blocks of one instruction of 4 bytes each. Of each, where it goes: jump (-1: a return, -2: none)
/// and whether it may fall through.
inline Disassembly make_blocks(const std::vector<std::pair<int, bool>>& ways) {
  Disassembly code;
  code.begin = FileOffset(0);
  code.link_begin = LinkAddress(0x1000);
  const auto address = [](size_t block) { return LinkAddress(0x1000 + 4 * block); };
  for (size_t block = 0; block < ways.size(); ++block) {
    Instruction one;
    one.address = address(block);
    one.size = 4;
    const auto [to, falls] = ways[block];
    if (to >= 0) {
      one.flow = falls ? Flow::branch : Flow::jump;
      one.target = address(static_cast<size_t>(to));
    } else {
      one.flow = to == -1 ? Flow::returns : Flow::next;
    }
    code.instructions.push_back(one);
    code.blocks.push_back({one.address, one.end(), block, block + 1});
  }
  return code;
}

/// Any of them: endless loops, blocks that nothing leads to, jumps to itself.
inline Disassembly make_random_blocks(std::mt19937& random, size_t blocks) {
  std::vector<std::pair<int, bool>> ways;
  for (size_t block = 0; block < blocks; ++block) {
    const auto kind = random() % 8;
    const auto to = static_cast<int>(random() % blocks);
    if (kind == 0) {
      ways.emplace_back(-1, false);
    } else if (kind == 1) {
      ways.emplace_back(to, false);
    } else if (kind == 2) {
      ways.emplace_back(-2, true);
    } else {
      ways.emplace_back(to, true);
    }
  }
  return make_blocks(ways);
}

}  // namespace culprit
