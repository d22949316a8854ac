#pragma once

// SharedLevel: what the cores of a machine share: the L3, memory, and a directory of the
// lines in private caches (who has them, who may write them, whether they were written).
// Locked in slices, each with its own L3 sets: cores rarely wait for each other.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <tsl/robin_map.h>

#include "simulate/machine/cache.h"
#include "simulate/machine/lost_lines.h"
#include "simulate/machine/machine.h"
#include "simulate/machine/mailbox.h"
#include "simulate/machine/outcome.h"
#include "simulate/machine/spin_lock.h"
#include "simulate/machine/tenure.h"

namespace culprit::simulate {

struct CoreState;

inline constexpr uint32_t kMostCores = 4096;

/// One line asked for by a core. Passed in two registers.
struct LineRequest {
  uint64_t line = 0;
  Origin origin;       // who asks
  uint8_t offset = 0;  // of the bytes that are accessed
  uint8_t bytes = 0;
  bool write : 1 = false;
  bool prefetch : 1 = false;
  bool tracked : 1 = true;  // false: instruction bytes for a core without L2
};
static_assert(sizeof(LineRequest) == 16);

struct LineReply {
  DataSource source = DataSource::memory;
  uint8_t flags = 0;         // LineFlag of the line in the private caches
  uint8_t memory_lines = 0;  // lines that went to or came from memory
};

class SharedLevel {
 public:
  static constexpr size_t kSlices = 64;

  SharedLevel(const MachineModel& machine, Locality locality);

  /// The core's number is how many there are before it; at most kMostCores. The directory begins
  /// with the second one, from what the first has.
  void add_core(CoreState& core);

  /// The line for a core that has it in no private cache.
  LineReply request(CoreState& core, LineRequest request);

  /// A core that has the line may write it from now on. Whether others had to give it up.
  bool upgrade(CoreState& core, LineRequest request);

  /// A line that may be written without asking was.
  void note_written(uint64_t line);

  /// A core has lost its last copy. Returns lines written to memory (0 or 1). `tenure` is
  /// what the core saw of it, or null.
  uint8_t give_back(CoreState& core, uint64_t line, uint8_t flags, const LineTenure* tenure);

  /// What a core saw of a line joins the L3's tenure of it, if it is there.
  void merge_tenure(uint64_t line, const LineTenure& seen);

  /// Ends the tenures of all lines in L3, into the table of `core`.
  void finish(CoreState& core);

  [[nodiscard]] const Cache& cache() const { return cache_; }

 private:
  struct Entry {
    uint64_t sharers = 0;  // bit of a core: its number mod 64
    bool exclusive = false;
    bool modified = false;
  };
  struct LineHash {
    size_t operator()(uint64_t line) const { return line * 0x9e3779b97f4a7c15 >> 20; }
  };
  struct alignas(64) Slice {
    SpinLock lock;
    tsl::robin_map<uint64_t, Entry, LineHash> directory;  // empty while there is one core
    LineAges ages;
    LostLines lost;      // lines that were evicted
    uint64_t clock = 0;  // of uses of its sets
  };
  /// One slice, locked if there is more than one core.
  class Locked {
   public:
    Locked(SharedLevel& level, uint64_t line);
    Slice* operator->() const { return slice_; }
    Slice& operator*() const { return *slice_; }

   private:
    Slice* slice_;
    std::unique_lock<SpinLock> lock_;
  };

  [[nodiscard]] Slice& slice_of(uint64_t line) {
    return slices_[(cache_.present() ? cache_.set_of(line) : line) % kSlices];
  }
  /// Where a line stands among the lost ones of its slice: neighbours of a slice are kSlices lines
  /// apart.
  static uint64_t place_of(uint64_t line) { return line / kSlices; }
  static uint64_t bit_of(const CoreState& core);
  void begin_directory(const CoreState& only);
  static DataSource find_source(const Entry& entry, uint64_t others, bool in_cache);
  void tell(uint64_t sharers, const CoreState& from, LineRequest request,
            CoherenceMessage::Kind kind);
  uint8_t hand_over(Entry& entry, const CoreState& core, LineRequest request, Slot slot);
  LineReply request_alone(CoreState& core, LineRequest request);
  void take_from_cache(Slice& slice, CoreState& core, LineRequest request, Slot slot, bool others,
                       LineReply& reply);
  [[nodiscard]] uint64_t find_sharers(const Slice& slice, const CoreState& core,
                                      uint64_t line) const;
  static bool drop_sharer(Slice& slice, const CoreState& core, uint64_t line);
  uint8_t fill(Slice& slice, CoreState& core, LineRequest request, uint8_t flags);
  uint8_t evict(Slice& slice, CoreState& core, Slot slot, Origin by);
  [[nodiscard]] bool recorded() const { return tenures_.size() != 0; }

  const Inclusion inclusion_;
  Cache cache_;
  ZeroedArray<LineTenure> tenures_;  // by slot; empty if not recorded
  std::unique_ptr<Slice[]> slices_;
  std::mutex cores_mutex_;
  std::array<std::atomic<CoreState*>, kMostCores> cores_{};
  std::atomic<uint32_t> core_count_{0};
  bool alone_ = true;  // one core: no locks, no directory
};

}  // namespace culprit::simulate
