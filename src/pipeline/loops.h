#pragma once

// The innermost loops of a function, with the way that control usually takes through them.

#include <cstddef>
#include <span>
#include <vector>

#include "attribute/disassembly.h"

namespace culprit {

struct Loop {
  std::vector<size_t> blocks;        // on the usual way, in order; the last jumps to the first
  std::vector<size_t> instructions;  // of these blocks, in order
  bool has_call = false;             // or a jump to who knows where: it cannot be followed
};

/// Loops are branches backwards to a block of the function; where several share blocks, the one
/// that is taken most often is the innermost. The usual way leaves out the blocks between that
/// run less than half as often.
/// Shape:  `runs` [executions], parallel to code.blocks
std::vector<Loop> find_innermost_loops(const Disassembly& code, std::span<const double> runs);

}  // namespace culprit
