#pragma once

// The tables of names and facts about the recording ⇄ rows: everything of a Profile but
// its counts, stacks and object ranges.

#include "model/tables.h"
#include "store/database.h"

namespace culprit {

/// Tables of which there may be much: their rows are in segments (counts.h).
template <class Row>
inline constexpr bool kIsPacked =
    std::is_same_v<Row, StackNode> || std::is_same_v<Row, ObjectRange>;

/// Rows of other tables that name rows of those: checked with them.
template <class Row>
inline constexpr bool kNamesPacked = std::is_same_v<Row, DataObject>;

/// This table stands beside that of the runs.
inline constexpr std::string_view kRunLabels = "run_labels";

/// Appends what is new, and rewrites the short tables that change while recording: runs,
/// labels, events, machine, environment, ledger. `written` is how many rows of each table the
/// file has. Inside a transaction of the caller.
/// `runs`: whether runs that are there may have changed; of thousands only the new ones are written
/// if not.
enum class Runs : uint8_t { may_change, are_final };
Result<void> append_tables(const Database& database, const Profile& profile, bool is_complete,
                           TableSizes& written, Runs runs = Runs::may_change);

/// Empties all tables that append_tables() fills. With TableSizes{}: rewrites them.
Result<void> clear_tables(const Database& database);

/// Reads and checks them, but for those of kNamesPacked, which read_counts() checks. Files that are
/// not marked complete have kInterrupted in the ledger.
Result<Profile> read_tables(const Database& database);

}  // namespace culprit
