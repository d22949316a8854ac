#pragma once

// Caches: of which machine a profile's tenures are, by what the collector noted in its environment.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "locality/sample_errors.h"
#include "model/profile.h"

namespace culprit {

/// The levels that have tenures, in the order in which answers list them.
inline constexpr std::array<CacheLevel, 4> kTenureLevels = {CacheLevel::l1d, CacheLevel::l2,
                                                            CacheLevel::l3, CacheLevel::l1i};
/// The place of a level in that order; nothing of other levels.
std::optional<size_t> tenure_level(CacheLevel level);
/// "L1D", "L2".
const char* level_word(CacheLevel level);

struct CacheSize {
  uint64_t size_bytes = 0;
  uint32_t ways = 0;
};

/// From issue of a load to its data, in L1D, L2, L3 and memory. [cycles] 0: not known.
using Latencies = std::array<double, 4>;

struct Caches {
  std::string machine;                                                // its name
  uint32_t line_bytes = 0;                                            // of all levels
  bool all_levels = false;                                            // not L1 only
  std::array<std::optional<CacheSize>, kTenureLevels.size()> levels;  // none: there is no such
  Latencies latencies{};
  SetSampling sampling;  // that tenures and edges are of
};

/// Errors: the profile was recorded without locality, in words with the command that records it.
Result<Caches> find_caches(const Profile& profile);

/// "L1D 32 kB / 8, L2 ..., lines of 64 B".
std::string describe_caches(const Caches& caches);

}  // namespace culprit
