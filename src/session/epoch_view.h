#pragma once

// A stretch of time of an epoch database, opened like a file: its epochs merged, their images'
// facts from the database's archive, completed where they lack.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "epochs/epoch_name.h"
#include "model/context_filter.h"
#include "session/profile_view.h"
#include "snapshot/snapshot.h"

namespace culprit {

struct EpochQuestion {
  std::string database;
  TimeSpan span;
  std::string epoch;  // instead: the name of one, or a part of it
  std::vector<ContextFilter> filters;
};

/// Errors: no such database; no epoch of that time, and which times there are.
/// `facts_are_there`: a call for a longer time has just completed the archive.
Result<ProfileView> open_epochs(const EpochQuestion& question, SnapshotOptions options,
                                const SnapshotProgress& progress, bool facts_are_there = false);

/// The epoch that the path names; nullopt: it names another file.
std::optional<EpochQuestion> find_epoch_of(const std::string& path,
                                           const std::vector<ContextFilter>& filters);

/// A profile by its path: of an epoch with what its database has of its code, which is completed.
Result<ProfileView> open_by_path(const std::string& path, const std::vector<ContextFilter>& filters,
                                 const SnapshotProgress& progress);

}  // namespace culprit
