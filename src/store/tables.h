#pragma once

// The tables of names and facts about the recording ⇄ rows: everything of a Profile but
// its counts, stacks and object ranges.

#include "model/profile.h"
#include "store/database.h"

namespace culprit {

/// How many rows of each growing table the file has.
struct RowsWritten {
  size_t strings = 0;
  size_t processes = 0;
  size_t threads = 0;
  size_t contexts = 0;
  size_t images = 0;
  size_t objects = 0;
  size_t regions = 0;
  size_t stacks = 0;         // in segments
  size_t object_ranges = 0;  // in segments
};

/// Appends what is new, and rewrites the short tables that change while recording: runs,
/// labels, events, machine, environment, ledger. Inside a transaction of the caller.
Result<void> append_tables(const Database& database, const Profile& profile, bool is_complete,
                           RowsWritten& written);

/// Empties all tables that append_tables() fills. With RowsWritten{}: rewrites them.
Result<void> clear_tables(const Database& database);

/// Reads and checks them. Files that are not marked complete have kInterrupted in the ledger.
Result<Profile> read_tables(const Database& database);

}  // namespace culprit
