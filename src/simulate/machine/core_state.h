#pragma once

// CoreState: the private caches of one core, their tenures, TLBs and prefetchers. Data for
// access() and fetch() (hierarchy.h); driven by one thread at a time.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "simulate/machine/cache.h"
#include "simulate/machine/code_uses.h"
#include "simulate/machine/huge_pages.h"
#include "simulate/machine/lost_lines.h"
#include "simulate/machine/machine.h"
#include "simulate/machine/mailbox.h"
#include "simulate/machine/outcome.h"
#include "simulate/machine/prefetch.h"
#include "simulate/machine/set_sample.h"
#include "simulate/machine/tenure.h"
#include "simulate/machine/tlb.h"
#include "simulate/machine/zeroed_array.h"

namespace culprit::simulate {

class SharedLevel;

/// A private cache with the tenures of its lines.
struct PrivateLevel {
  PrivateLevel(const CacheGeometry& geometry, uint32_t line_bytes, bool with_tenures,
               const SetSample& sample);

  Cache cache;
  ZeroedArray<LineTenure> tenures;  // by slot; empty if not recorded
  LineAges ages;
  LostLines lost;     // lines that were evicted
  TenureTable table;  // of all lines, or of those of sets that are simulated for certain
  std::unique_ptr<TenureTable[]> drawn;  // of the random groups of a sample of sets
  TenureTable& table_of(uint8_t stratum) {
    return stratum == SetSample::kCertain ? table : drawn[stratum - 1];
  }
  [[nodiscard]] bool recorded() const { return tenures.size() != 0; }

  /// Records that `site` has used these bytes of the line in `slot`; `is_first`: of a line that was
  /// prefetched.
  void touch(Slot slot, uint32_t offset, uint32_t bytes, Site site, uint8_t stratum,
             bool is_first = false) {
    LineTenure& tenure = tenures[slot];
    ages.use(tenure);
    if (is_first) {
      TenureTable::touch_first(tenure, offset, bytes);
      tenure.uses = 1;
    } else {
      table_of(stratum).touch(tenure, offset, bytes, site);
    }
  }

  /// What cache.find() gives, faster where lines are found more often than not.
  Slot find_likely(uint64_t line) {
    Slot& slot = likely_[line % likely_.size()];
    if (cache.holds(slot, line)) [[likely]]
      return slot;
    const Slot found = cache.find(line);
    if (found != kNoSlot) slot = found;
    return found;
  }
  /// A quick look: the slot that has the line, or another one.
  [[nodiscard]] Slot guess(uint64_t line) const { return likely_[line % likely_.size()]; }

 private:
  std::array<Slot, 2048> likely_{};  // where a line was, by its low bits
};

/// Lines moved, for bandwidth and for tests. Each counts lines.
struct Traffic {
  uint64_t written_back_l1 = 0;  // dirty lines out of L1D
  uint64_t written_back_l2 = 0;
  uint64_t shared = 0;  // from and to what is beyond the private caches
  uint64_t memory = 0;  // from and to memory
  uint64_t prefetched_l1 = 0;
  uint64_t prefetched_l2 = 0;
  uint64_t taken_from_others = 0;  // lines that this core got out of another, or alone for itself
  uint64_t taken_by_others = 0;    // lines this core gave up to another core's store
};

struct CoreState {
  CoreState(const MachineModel& machine, Locality locality, const SetSample& sample,
            const HugePages& huge_pages, SharedLevel& shared, uint16_t number);

  // What the fast path needs, together.
  uint32_t line_shift;
  uint64_t line_mask;
  uint64_t clock = 0;  // of uses, of whatever is here
  Mailbox mailbox;
  std::array<uint16_t, kDataSources> latencies;  // cycles until data is there; 0: an L1 hit's
  [[nodiscard]] uint16_t latency_of(DataSource source) const {
    return latencies[static_cast<size_t>(source)];
  }

  const MachineModel& machine;
  Locality locality;
  const SetSample& sample;
  const HugePages& huge_pages;
  SharedLevel& shared;
  uint16_t number;           // of this core, from 0
  uint8_t thread = 0;        // that it runs, as origins have it: begin_thread()
  uint64_t instruction = 0;  // of the access under way: its address; 0: it has but its site
  bool moves_lines = false;  // the access under way is of a string instruction: no step of its own
                             // is learnt
  bool writes_whole_line = false;  // the access under way: nobody needs to read it ahead

  PrivateLevel l1d;
  PrivateLevel l1i;
  CodeUses code_uses;  // of L1I
  PrivateLevel l2;
  TenureTable l3_table;                     // of lines that this core evicted from the shared level
  std::unique_ptr<TenureTable[]> l3_drawn;  // the same of random groups
  TenureTable& l3_table_of(uint64_t line) {
    const uint8_t stratum = sample.stratum_of(line);
    return stratum == SetSample::kCertain ? l3_table : l3_drawn[stratum - 1];
  }
  Tlb itlb;
  Tlb dtlb;
  Tlb stlb;
  uint64_t page_changes = 0;  // of huge_pages, that the TLBs know of
  /// huge_pages.holds(), as of these changes.
  bool is_huge(uint64_t address) {
    const uint64_t region = address >> kHugePageShift;
    if (region != last_region) {
      last_region = region;
      is_last_huge = huge_pages.holds(address);
    }
    return is_last_huge;
  }
  uint64_t last_region = ~uint64_t{0};
  bool is_last_huge = false;
  StreamPrefetcher stream;
  StridePrefetcher stride;
  PrefetchedLines prefetched;  // by the last access that set off any, unless somebody took them
  Traffic traffic;
  std::vector<CoherenceMessage> messages;  // reused by each delivery

  /// The tenures that this core recorded for a level, in sets of this stratum.
  TenureTable& tenures(Level level, uint8_t stratum = SetSample::kCertain);
  /// How many strata it records there.
  [[nodiscard]] uint32_t strata(Level level) const;
};

/// The core runs another thread from now on; its caches stay as they are. A new core runs the
/// thread of its own number.
void begin_thread(CoreState& core, uint8_t thread);

/// Only some sets are simulated from now on (Hierarchy::begin_sample()): what was accessed until
/// then stays what it is, in sets that are not followed any more, too.
void note_sample(CoreState& core);

}  // namespace culprit::simulate
