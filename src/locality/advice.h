#pragma once

// LocalityAdvice: what to change so that fewer lines have to come, by whom, and what it may save.
//
// Each piece rests on counts: lines that come back after an eviction (edges `refetch`), bytes that
// nobody uses (spatial use), lines that cores take from each other (edges `sharing`). What it saves
// at most are the modelled cycles in which somebody waited for just these lines:
//
//     saved = waits for L2 x (refetches of L1D that L2 had / lines that L2 had) + ... level by
//     level
//
// and, beside a measured run, made measured ones (scale_waits()).
// Pieces of advice may save the same cycles; the later one then names the earlier.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attribute/code_index.h"
#include "locality/caches.h"
#include "locality/loop_scales.h"
#include "model/profile.h"

namespace culprit {

enum class AdviceKind : uint8_t {
  swap_loops,    // one loop steps over lines that it comes back to too late
  block_loops,   // one loop nest comes back to whole lines too late
  fuse_loops,    // two loops pass over the same lines one after the other
  pad_arrays,    // too many lines share sets
  pool_blocks,   // small blocks of the heap with gaps
  split_layout,  // lines of which little is used
  false_sharing,
  huge_pages,   // addresses of an object are translated too often
  dead_stores,  // an object is stored and never loaded
};
const char* advice_word(AdviceKind kind);

struct LocalityAdvice {
  AdviceKind kind = AdviceKind::swap_loops;
  std::string title;               // "swap the loops at quake.c:497-505"
  std::string reason;              // why, in figures
  std::vector<std::string> lines;  // to touch, those with most first: "quake.c:498"
  std::vector<std::string> objects;
  double saved_cycles = 0;         // at most, of what shares are of
  double share = 0;                // of all cycles [0 to 1]: measured ones where there are some
  std::optional<size_t> overlaps;  // an earlier piece that saves some of the same cycles
};

/// No advice of less than this share of all cycles.
inline constexpr double kLeastGain = 0.02;

/// Those that save most first, but blocking only where it saves twice as much. None without
/// modelled cycles.
/// Units:  modelled cycles [cycles] -> share [0 to 1]
/// Errors: an upper end: what else would be waited for instead is not known
std::vector<LocalityAdvice> make_locality_advice(const Profile& profile, CodeIndex& code,
                                                 const Caches& caches, LoopScales& scales);

}  // namespace culprit
