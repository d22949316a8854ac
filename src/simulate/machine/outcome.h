#pragma once

// What an access to the simulated memory yields.

#include <cstdint>

namespace culprit::simulate {

/// An instruction, as the caller numbers them. 0 is "unknown".
using Site = uint32_t;

enum class AccessType : uint8_t { load, store };

/// Where the data came from, nearest first.
enum class DataSource : uint8_t {
  l1,
  l2,
  l3,
  other_core_clean,     // out of another core's private cache, not written there
  other_core_modified,  // the same, written there
  memory,
};
inline constexpr int kDataSources = 6;

/// How the address was translated, cheapest first.
enum class TlbLookup : uint8_t { first_level, second_level, walk };

/// What is recorded of the lines' stays in the caches.
enum class Locality : uint8_t { off, l1, all };

/// Cache levels that have tenures.
enum class Level : uint8_t { l1d, l1i, l2, l3 };
inline constexpr int kLevels = 4;

/// One access. Of an access that crosses lines or pages: the farthest source, the dearest
/// translation, the sum of the counts. Passed in one register.
struct Outcome {
  DataSource source : 4 = DataSource::l1;
  TlbLookup translation : 4 = TlbLookup::first_level;
  uint8_t missed_lines = 0;      // lines that were not in the first level
  uint8_t shared_lines = 0;      // lines between the core's own caches and what is beyond; as
                                 // memory_lines
  uint8_t memory_lines : 4 = 0;  // lines to and from memory, those of prefetches and
                                 // write-backs too; 15 is "15 or more"
  bool prefetched : 1 = false;   // the first use of a line that a prefetcher brought in
  bool upgraded : 1 = false;     // a store to a line that other cores had to give up
  bool sampled_out : 1 = false;  // set sampling: not simulated
  bool crosses_line : 1 = false;
  uint16_t latency_cycles = 0;  // of the data, without the translation; 0: an L1 hit's
  uint16_t walk_cycles = 0;     // what translation took beyond the first-level TLB

  /// A first-level hit with nothing to report: all that most accesses are.
  [[nodiscard]] bool plain_hit() const { return __builtin_bit_cast(uint64_t, *this) == 0; }
};
static_assert(sizeof(Outcome) == 8);

/// An Outcome on its way through the fast path, where nearly all are plain hits: compilers take an
/// Outcome apart into its fields before they ask, which costs more than the hit itself.
class PackedOutcome {
 public:
  PackedOutcome() = default;  // a plain hit
  PackedOutcome(const Outcome& outcome) : bits_(__builtin_bit_cast(uint64_t, outcome)) {}
  operator Outcome() const { return __builtin_bit_cast(Outcome, bits_); }

  [[nodiscard]] bool plain_hit() const { return bits_ == 0; }

  /// Both, if no field of one is set in the other.
  friend PackedOutcome operator|(PackedOutcome one, PackedOutcome other) {
    one.bits_ |= other.bits_;
    return one;
  }

 private:
  uint64_t bits_ = 0;
};

/// What takes time of a store that writes a whole line, which need not be read for that: that the
/// line is put into the first level, and the lines that leave for it.
inline Outcome without_reading(Outcome outcome) {
  if (outcome.missed_lines == 0 || outcome.source <= DataSource::l2) return outcome;
  if (outcome.shared_lines != 0) --outcome.shared_lines;
  const bool is_from_memory = outcome.source == DataSource::memory;
  if (is_from_memory && outcome.memory_lines != 0) {
    outcome.memory_lines = (outcome.memory_lines - 1) & 15;
  }
  outcome.source = DataSource::l2;
  outcome.latency_cycles = 0;
  return outcome;
}

}  // namespace culprit::simulate
