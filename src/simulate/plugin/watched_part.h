#pragma once

// --roi and --skip as blocks run: which of them count. (Where a thread is: region.h.)

#include <cstdint>

namespace culprit {

struct BlockFacts;
struct Core;

/// From now on only a part is simulated: the region, if `has_region`, without the first
/// instructions of the process. Before any core starts.
void watch_region(bool has_region, uint64_t skipped_instructions);

/// Whether it is.
extern bool is_region_watched;

/// The core, if what it runs now is simulated; else nullptr, and memory accesses are not counted
/// either.
Core* watch_block(unsigned vcpu, const BlockFacts& block);

}  // namespace culprit
