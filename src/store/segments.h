#pragma once

// The table `segments`: packed pieces of counts, stacks and object ranges. A segment is
// never changed; close() replaces all of one kind by fewer.

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "store/database.h"
#include "store/packed_rows.h"

namespace culprit {

/// Adds all rows as segments of `kind`.
template <class Row>
Result<void> append_segments(const Database& database, std::string_view kind,
                             std::span<const Row> rows) {
  if (rows.empty()) return {};
  ASSIGN_OR_RETURN(
      Statement insert,
      database.prepare("INSERT INTO segments(kind, rows, raw_bytes, data) VALUES(?, ?, ?, ?)"));
  while (!rows.empty()) {
    ASSIGN_OR_RETURN(const PackedPiece piece, pack_rows(rows));
    insert.bind(0, kind);
    insert.bind(1, piece.rows);
    insert.bind(2, piece.raw_bytes);
    insert.bind_blob(3, piece.data);
    RETURN_IF_ERROR(insert.run());
  }
  return {};
}

/// How many rows the segments of `kind` claim, up to so many that larger tables may grow.
inline Result<size_t> count_rows(const Database& database, std::string_view kind) {
  ASSIGN_OR_RETURN(Statement query,
                   database.prepare("SELECT total(rows) FROM segments WHERE kind = ?"));
  query.bind(0, kind);
  RETURN_IF_ERROR(query.step());
  constexpr double kMost = 4.0 * kMaxRowsPerPiece;
  return static_cast<size_t>(std::clamp(query.real(0).value_or(0), 0.0, kMost));
}

/// Calls take(rows, raw_bytes, data) for each segment of `kind`, in the order in which they were
/// added. Errors of it are of the segment.
template <class Take>
Result<void> visit_segments(const Database& database, std::string_view kind, Take take) {
  ASSIGN_OR_RETURN(
      Statement query,
      database.prepare("SELECT id, rows, raw_bytes, data FROM segments WHERE kind = ?"));
  query.bind(0, kind);
  int64_t last_id = 0;
  while (true) {
    ASSIGN_OR_RETURN(const bool has_row, query.step());
    if (!has_row) return {};
    const int64_t id = query.integer(0).value_or(0);
    const auto rows = static_cast<uint64_t>(query.integer(1).value_or(-1));
    const auto raw_bytes = static_cast<uint64_t>(query.integer(2).value_or(-1));
    Result<void> good = Error{"they are out of order"};
    if (id > last_id) good = take(rows, raw_bytes, query.text(3).value_or(""));
    if (!good) {
      return Error{fmt::format("{} is damaged: its {}, segment {}: {}", in_quotes(database.path()),
                               kind, id, good.error().message)};
    }
    last_id = id;
  }
}

/// All rows of `kind`.
template <class Row>
Result<std::vector<Row>> read_segments(const Database& database, std::string_view kind) {
  ASSIGN_OR_RETURN(const size_t count, count_rows(database, kind));
  std::vector<Row> rows;
  rows.reserve(count);
  std::vector<DecodedColumn> space;
  RETURN_IF_ERROR(visit_segments(
      database, kind, [&](uint64_t piece_rows, uint64_t raw_bytes, std::string_view data) {
        return unpack_rows(piece_rows, raw_bytes, data, rows, space);
      }));
  return rows;
}

/// Replaces all segments of `kind`.
template <class Row>
Result<void> replace_segments(const Database& database, std::string_view kind,
                              std::span<const Row> rows) {
  ASSIGN_OR_RETURN(Statement remove, database.prepare("DELETE FROM segments WHERE kind = ?"));
  remove.bind(0, kind);
  RETURN_IF_ERROR(remove.run());
  return append_segments(database, kind, rows);
}

}  // namespace culprit
