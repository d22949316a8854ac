#pragma once

// The tables of the file, and the examination of a file before anything in it is used.

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "store/database.h"

namespace culprit {

/// "Culp", in the header of the database file: what file(1) and we recognize it by.
inline constexpr uint32_t kApplicationId = 0x43756c70;
/// Raised only when old readers would misread a file; columns and tables that they may
/// ignore can be added without.
inline constexpr uint32_t kFormatVersion = 1;

/// Makes all tables, empty.
Result<void> create_tables(const Database& database);

/// Readers refuse a file that unfolds to much more than its size: some hundred bytes can claim
/// millions of equal rows. A file of honest rows that repeat as much gets a segment of ballast,
/// zeros that nobody reads. Call it within the transaction that writes the segments.
Result<void> balance_size(const Database& database);

/// Opens an existing file, rolling back what an interrupted writer left half done. Clear
/// errors for what is no profile: missing, folder, empty, other bytes, truncated, of a newer
/// version, with triggers, views or expressions in it, or claiming impossible sizes.
Result<std::unique_ptr<Database>> open_database(const std::string& path, Database::Access access);

}  // namespace culprit
