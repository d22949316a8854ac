#pragma once

// What happens inside one core's caches when a line comes, goes, or is asked for by another
// core. access.cc has the way of an access; this is what it is made of.

#include <cstdint>

#include "simulate/machine/core_state.h"
#include "simulate/machine/shared_level.h"

namespace culprit::simulate {

/// Where a line came from and what the first level may do with it.
struct Brought {
  DataSource source = DataSource::l2;
  uint8_t flags = 0;        // kWritable, kNoted
  bool prefetched = false;  // L2 had it from a prefetcher, and this is its first use
};

/// Does what the messages in the core's mailbox ask for, and forgets pages that changed their size.
void handle_messages(CoreState& core);

/// Gets a line that the first level lacks, out of L2 or what is behind it; then L2 has it.
Brought bring_line(CoreState& core, LineRequest request);

/// Puts a brought line into L1D or L1I; what was in its place leaves.
Slot fill_l1d(CoreState& core, LineRequest request, uint8_t flags);
Slot fill_l1i(CoreState& core, LineRequest request, uint8_t flags);

/// Brings a line into L2 (L1D if there is no L2) or L1D, if neither has it.
void prefetch_into_l2(CoreState& core, uint64_t line, Origin origin);
void prefetch_into_l1d(CoreState& core, uint64_t line, Origin origin);
void prefetch_into_l1i(CoreState& core, uint64_t line, Origin origin);

/// Ends the tenures of all lines in the private caches.
void finish_private(CoreState& core);

/// What the private caches saw of a line that the shared level loses; empty if nothing.
LineTenure peek_tenure(CoreState& core, uint64_t line);

}  // namespace culprit::simulate
