#pragma once

// Thinning out: old epochs become hours, then days, and the oldest go. Counts are only ever moved:
// a merged epoch holds what its parts held, and is complete before they go.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "epochs/epoch_database.h"

namespace culprit {

struct Keeping {
  int64_t hours_after_s = 86'400;           // epochs that old are merged by the hour
  int64_t days_after_s = 7 * 86'400;        // and by the day
  int64_t forget_after_s = 90 * 86'400;     // 0: never
  uint64_t most_bytes = uint64_t{1} << 30;  // of epochs and facts; 0: any number
  /// Of the file system. The newest epochs stay that together are at most kKeptPart of what is
  /// missing: that they go would not help.
  uint64_t least_free_bytes = uint64_t{1} << 28;
};

inline constexpr uint64_t kKeptPart = 16;  // one part in

struct ThinningPlan {
  std::vector<std::vector<EpochFile>> merges;  // each to one
  std::vector<EpochFile> removals;             // oldest first
  std::vector<EpochFile> removals_for_space;   // of those, the ones that went for want of space
};

/// What is to be done with `files` (EpochDatabase::list()) at `now_s`. Only neighbours of one boot
/// are merged, so that no number between them is of another epoch; never the current one.
/// `other_bytes`: what else counts against most_bytes. `free_bytes`: of the file system.
ThinningPlan plan_thinning(const std::vector<EpochFile>& files, const Keeping& keeping,
                           int64_t now_s, uint64_t other_bytes, uint64_t free_bytes);

/// What was removed since the file system has too little space.
struct RemovedForSpace {
  uint64_t epochs = 0;
  uint64_t bytes = 0;
};

struct Thinned {
  std::vector<std::string> problems;  // what went wrong, a line each
  RemovedForSpace removed;
};

/// Does it. Epochs that cannot be read are left as they are.
Thinned thin_out(const EpochDatabase& database, const Keeping& keeping, int64_t now_s);

}  // namespace culprit
