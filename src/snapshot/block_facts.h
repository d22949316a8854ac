#pragma once

// The basic blocks of functions, found once when the facts are made: LLVM takes some 10
// nanoseconds a byte to decode, at every report that asked for blocks.

#include "model/image_facts.h"

namespace culprit {

/// Fills `facts.blocks` from the functions' code; `functions` and `code` ascend. They stay
/// empty for an architecture that cannot be decoded.
void add_block_facts(ImageFacts& facts);

}  // namespace culprit
