#pragma once

// SharedLevel: what the cores of a machine share: the L3, memory, and a directory of the
// lines in private caches (who has them, who may write them, whether they were written).
// Locked in slices, each with its own L3 sets: cores rarely wait for each other.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <tsl/robin_map.h>
#include <vector>

#include "simulate/machine/cache.h"
#include "simulate/machine/machine.h"
#include "simulate/machine/mailbox.h"
#include "simulate/machine/outcome.h"
#include "simulate/machine/tenure.h"

namespace culprit::simulate {

struct CoreState;

/// One line asked for by a core.
struct LineRequest {
  uint64_t line = 0;
  Site site = 0;
  ByteMask bytes;
  bool write = false;
  bool prefetch = false;
  bool tracked = true;  // false: instruction bytes for a core without L2
};

struct LineReply {
  DataSource source = DataSource::memory;
  uint8_t flags = 0;         // LineFlag of the line in the private caches
  uint8_t memory_lines = 0;  // lines that went to or came from memory
};

class SharedLevel {
 public:
  SharedLevel(const Machine& machine, Locality locality);

  void add_core(CoreState& core);

  /// The line for a core that has it in no private cache.
  LineReply request(CoreState& core, const LineRequest& request);

  /// A core that has the line may write it from now on. Whether others had to give it up.
  bool upgrade(CoreState& core, const LineRequest& request);

  /// A line that may be written without asking was.
  void note_written(uint64_t line);

  /// A core has lost its last copy. Returns lines written to memory (0 or 1). `tenure` is
  /// what the core saw of it, or null.
  uint8_t give_back(CoreState& core, uint64_t line, uint8_t flags, const Tenure* tenure);

  /// What a core saw of a line joins the L3's tenure of it, if it is there.
  bool merge_tenure(uint64_t line, const Tenure& seen);

  /// Ends the tenures of all lines in L3, into the table of `core`.
  void finish(CoreState& core);

  [[nodiscard]] const Cache& cache() const { return cache_; }

 private:
  struct Entry {
    uint64_t sharers = 0;  // bit of a core: its number mod 64
    bool exclusive = false;
    bool modified = false;
  };
  struct alignas(64) Slice {
    std::mutex mutex;
    tsl::robin_map<uint64_t, Entry> directory;
    LineAges ages;
  };
  class SliceLock;

  Slice& slice_of(uint64_t line) {
    return slices_[cache_.present() ? cache_.set_of(line) % kSlices : line % kSlices];
  }
  DataSource find_source(Slice& slice, CoreState& core, const LineRequest& request,
                         const Entry& entry, LineReply& reply);
  void tell_others(const Entry& entry, CoreState& core, const LineRequest& request,
                   Letter::Wish wish);
  uint8_t fill(Slice& slice, CoreState& core, uint64_t line, uint8_t flags, const Tenure& tenure);
  void end_tenure(Slice& slice, CoreState& core, Slot slot, const Evicted& evicted, Site by);

  static constexpr size_t kSlices = 64;
  Inclusion inclusion_;
  Locality locality_;
  Cache cache_;
  ZeroedArray<Tenure> tenures_;
  std::unique_ptr<Slice[]> slices_;
  std::vector<CoreState*> cores_;
  std::mutex cores_mutex_;
};

}  // namespace culprit::simulate
