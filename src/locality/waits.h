#pragma once

// Waits: in what the cycles went that some code waited for data, by where the data came from.

#include <array>
#include <cstdint>
#include <vector>

#include "locality/caches.h"
#include "locality/use.h"
#include "model/profile.h"

namespace culprit {

/// Levels that data come through: L1D, L2, L3, as kTenureLevels begins.
inline constexpr size_t kDataLevels = 3;

/// Modelled cycles.
struct Waits {
  double all = 0;  // cycles, whatever they went to: of the code, no sum of the others
  double l2 = 0;   // for data that L2 had
  double l3 = 0;
  double memory = 0;
  double bandwidth = 0;    // for lines on their way, and for room to store
  double other_cores = 0;  // for lines of other cores
  double translation = 0;  // for addresses: the second TLB, page walks

  Waits& operator+=(const Waits& other);
};

/// What each event of a profile adds to, found once.
class WaitEvents {
 public:
  explicit WaitEvents(const Profile& profile);
  void add(size_t event, uint64_t value, double scale, Waits& to) const;
  [[nodiscard]] bool any() const { return any_; }

 private:
  std::vector<uint8_t> roles_;
  bool any_ = false;
};

/// Measured cycles for a modelled one of these waits, where all of the code (`waits.all`) takes
/// `scale` measured cycles for a modelled one. What it takes more than modelled, or less, is shared
/// out by how wrong each is usually: waits may be twice as long on the day, or overlap, an addition
/// takes the cycles that it takes. Source: as why/gain.h, with the errors it has of load latency
/// and of chains
double scale_waits(const Waits& waits, double scale);

/// Lines that came in, and of these those that had been there before, at one level.
struct LinesIn {
  double lines = 0;
  double refetched = 0;
};

/// The part of the waits that is gone if these refetches are hits: level by level, by how many of
/// the lines that came from there they are. [cycles] Shape:  by level: L1D, L2, L3; a level that
/// has none is all zero
double compute_saved_by_hits(const Waits& waits, const std::array<LinesIn, 3>& levels);

/// The part that is gone if only the bytes that are used had to come. [cycles]
/// Shape:  `used`: of the bytes of a line that comes from beyond L1D, L2, L3, those that somebody
/// uses
///         before it is gone from all of them [0 to 1]
double compute_saved_by_packing(const Waits& waits, const std::array<double, 3>& used);

/// What becomes of the lines of one level when the members that are used together are packed.
struct PackedLines {
  double still_come = 1;  // for each line that comes now [0 to 1]
  double stay = 0;        // of those that do not: they are still here. The others share a line
  double are_held = 0;    // of those that come back and were gone: the part that has room then
};

/// The part that is gone then: fewer lines come, and of these some are still there. What is still
/// in L2 or L3 is waited for as long as these take. [cycles]
/// Shape:  by level: L1D, L2, L3; `back`: as compute_saved_by_hits() has it
double compute_saved_by_split(const Waits& waits, const std::array<PackedLines, 3>& packed,
                              const std::array<LinesIn, 3>& back, const Latencies& latencies);

}  // namespace culprit
