#pragma once

// Packed tables (stacks, object ranges) and all counts of a Profile ⇄ segments.

#include "model/profile.h"
#include "store/database.h"
#include "store/tables.h"

namespace culprit {

/// Adds what is new in the packed tables, and every count. Inside a transaction.
Result<void> append_counts(const Database& database, const Profile& profile, TableSizes& written);

/// Rewrites the packed tables from `profile`, and unites the segments of every kind
/// of count that has more than it needs. `profile` has the tables; its counts are not used.
Result<void> compact_counts(const Database& database, const Profile& profile);

/// Fills packed tables and counts, checked, in canonical order (model/merge.h).
/// `profile` has the tables already.
Result<void> read_counts(const Database& database, Profile& profile);

}  // namespace culprit
