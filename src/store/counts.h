#pragma once

// Stacks, object ranges and all counts of a Profile ⇄ segments.

#include "model/profile.h"
#include "store/database.h"
#include "store/tables.h"

namespace culprit {

/// Adds stacks and object ranges that are new, and every count. Inside a transaction.
Result<void> append_counts(const Database& database, const Profile& profile, RowsWritten& written);

/// Rewrites stacks and object ranges from `profile`, and unites the segments of every kind
/// of count that has more than it needs. `profile` has the tables; its counts are not used.
Result<void> compact_counts(const Database& database, const Profile& profile);

/// Fills stacks, object ranges and counts, checked, in canonical order (model/merge.h).
/// `profile` has the tables already.
Result<void> read_counts(const Database& database, Profile& profile);

}  // namespace culprit
