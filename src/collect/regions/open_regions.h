#pragma once

// Constructs that a process was in when it ended: they took their time until then, though nobody
// saw them end.

#include <cstdint>

#include "collect/regions/region_files.h"

namespace culprit {

/// Adds what the open constructs of all threads took until `end_ticks` to their counters, in the
/// parts that it would have been in, and as unfinished. What a child has from its parent by fork is
/// the parent's: it is counted as still open.
/// Units:  end_ticks [ticks] of the process's clock
void add_open_regions(RegionProcess& process, uint64_t end_ticks);

}  // namespace culprit
