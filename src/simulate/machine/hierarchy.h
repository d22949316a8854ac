#pragma once

// The memory of a simulated machine: per core L1I, L1D, L2, TLBs and prefetchers; one L3 and
// a directory of who has which line for all cores.
//
//     ASSIGN_OR_RETURN(auto memory, Hierarchy::make(machine, {.locality = Locality::all}));
//     CoreState& core = memory->add_core();                        // one per running thread
//     Outcome load = access<Locality::all>(core, address, 8, AccessType::load, site);
//     Outcome code = fetch(core, part);                            // of one line of code
//     memory->finish();                                            // lines still there count, too
//
// Each core is driven by one thread at a time; different cores may be driven in parallel:
// what they share is locked in slices of L3 sets. What a core must give up (another core's
// store, an inclusive level's eviction) is posted to it and done before its next access, so
// that driving the cores in turn, in any one thread, is exact and repeatable. Cores whose
// numbers differ by a multiple of 64 do not see each other's stores.
//
// Writes allocate and are written back. A written-back line updates the next level that has
// it, and goes to memory if none has: as in cachegrind, a write-back never allocates
// (except in a victim L3, which lives of evictions).

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/result.h"
#include "simulate/machine/core_state.h"
#include "simulate/machine/huge_pages.h"
#include "simulate/machine/machine.h"
#include "simulate/machine/outcome.h"
#include "simulate/machine/set_sample.h"
#include "simulate/machine/shared_level.h"
#include "simulate/machine/usual_access.h"

namespace culprit::simulate {

struct HierarchyOptions {
  Locality locality = Locality::off;
  uint32_t sample_sets = 1;    // N of --sets 1/N: a power of two
  uint64_t sample_seed = 1;    // which of the sets
  bool samples_later = false;  // all sets are simulated until begin_sample()
};

class Hierarchy {
 public:
  /// Errors: those of check_machine(), and a sample that the geometry does not allow.
  static Result<std::unique_ptr<Hierarchy>> make(const MachineModel& machine,
                                                 const HierarchyOptions& options = {});
  ~Hierarchy();

  /// A core for a thread. The second one must be made while the first makes no access (by its
  /// thread, as clone() does); others at any time. Its address is stable.
  CoreState& add_core();

  /// The pages in [begin, end) are huge ones (2 MiB) from now on; `huge` false: 4 KiB again.
  void set_huge_pages(uint64_t begin, uint64_t end, bool huge = true);

  /// Ends all tenures, as if everything was evicted (and Traffic goes on counting). Call once,
  /// when no thread runs.
  void finish();

  /// With samples_later: only some sets from now on (SetSample::begin()). Each core has to be told
  /// by note_sample(), when its thread next comes by.
  void begin_sample(std::span<const uint64_t> heat) { sample_.begin(heat); }

  [[nodiscard]] const MachineModel& machine() const { return machine_; }
  [[nodiscard]] const SetSample& sample() const { return sample_; }
  [[nodiscard]] const std::vector<std::unique_ptr<CoreState>>& cores() const { return cores_; }

 private:
  explicit Hierarchy(const MachineModel& machine, const HierarchyOptions& options,
                     SetSample sample);

  MachineModel machine_;
  HierarchyOptions options_;
  SetSample sample_;
  HugePages huge_pages_;
  SharedLevel shared_;
  std::mutex cores_mutex_;
  std::vector<std::unique_ptr<CoreState>> cores_;
};

/// One load or store of `bytes` (1 to 4096) at `address`. `kLocality` is the hierarchy's.
/// Loads and stores of one instruction are two calls.
template <Locality kLocality>
PackedOutcome access(CoreState& core, uint64_t address, uint32_t bytes, AccessType kind,
                     Site site) {
  if (access_usual<kLocality>(core, address, bytes, kind, site)) return PackedOutcome();
  return access_unusual<kLocality>(core, address, bytes, kind, site);
}
/// An access with the locality chosen at run time.
Outcome access(CoreState& core, uint64_t address, uint32_t bytes, AccessType kind, Site site);

/// A part of an access that goes on in the line where the part before it ended. Nothing happens but
/// that more of the line is touched.
template <Locality kLocality>
void access_more(CoreState& core, uint64_t address, uint32_t bytes);

/// An access with locality where only some sets may be simulated: its line, or the first of its
/// lines, is of this stratum.
inline PackedOutcome access_sampled(CoreState& core, uint64_t address, uint32_t bytes,
                                    AccessType kind, Site site, uint8_t stratum) {
  TenureTable& table = core.l1d.table_of(stratum);
  if (access_usual<Locality::all>(core, address, bytes, kind, site, table)) return PackedOutcome();
  return access_unusual<Locality::all>(core, address, bytes, kind, site);
}
/// Whether a part that follows the one before it is such a one.
inline bool is_in_line_before(const CoreState& core, uint64_t address, uint32_t bytes) {
  const uint64_t offset = address & core.line_mask;
  return offset != 0 && offset + bytes <= core.line_mask + 1;
}

/// Fetches a part of the code, which is the same whenever its number is told.
inline PackedOutcome fetch(CoreState& core, const CodePart& part) {
  if (fetch_usual(core, part)) return PackedOutcome();
  return fetch_unusual(core, part);
}
/// Fetches any bytes, as parts without numbers; `site` is that of the first instruction.
PackedOutcome fetch(CoreState& core, uint64_t address, uint32_t bytes, Site site);

}  // namespace culprit::simulate
