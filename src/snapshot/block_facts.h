#pragma once

// The basic blocks of functions, and where jumps go that do not say it, found once when the facts
// are made: LLVM takes some 10 nanoseconds a byte to decode, at every report that asked for
// blocks, and tables of jumps are in the binary only.

#include "binary/symbols.h"
#include "model/image_facts.h"

namespace culprit {

/// Fills `facts.blocks` and `facts.jumps` from the functions' code, which is that of `elf`;
/// `functions` and `code` ascend. They stay empty for an architecture that cannot be decoded.
void add_block_facts(const ElfFile& elf, const Symbols& symbols, ImageFacts& facts);

}  // namespace culprit
