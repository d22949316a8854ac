#include "store/counts.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "model/histogram_grouper.h"
#include "model/merge.h"
#include "store/check_rows.h"
#include "store/segments.h"

namespace culprit {

namespace {

template <class Row>
Result<void> append(const Database& database, std::string_view kind, std::span<const Row> rows,
                    const TableSizes& sizes, size_t first = 0) {
  RETURN_IF_ERROR(check_rows(kind, rows, sizes, first));
  return append_segments(database, kind, rows);
}

template <class Row>
Result<void> replace(const Database& database, std::string_view kind, const std::vector<Row>& rows,
                     const TableSizes& sizes) {
  RETURN_IF_ERROR(check_rows(kind, std::span(rows), sizes));
  return replace_segments(database, kind, std::span(rows));
}

/// Appends the rows from `written` on.
template <class Row>
Result<void> append_new(const Database& database, std::string_view kind,
                        const std::vector<Row>& rows, const TableSizes& sizes, size_t& written) {
  CHECK(written <= rows.size());
  RETURN_IF_ERROR(append(database, kind, std::span(rows).subspan(written), sizes, written));
  written = rows.size();
  return {};
}

template <class Row>
Result<std::vector<Row>> read(const Database& database, std::string_view kind,
                              const TableSizes& sizes) {
  ASSIGN_OR_RETURN(std::vector<Row> rows, read_segments<Row>(database, kind));
  RETURN_IF_ERROR(check_read(database.path(), kind, rows, sizes));
  return rows;
}

/// Segment by segment, as long as their rows are in canonical order: a file that was closed has no
/// others, and all of its rows together would be several times as large as the histograms.
Result<std::vector<Histogram>> read_histograms(const Database& database, const TableSizes& sizes,
                                               const std::vector<Event>& events) {
  HistogramGrouper grouper;
  FieldSums sums{};
  size_t checked = 0;
  std::vector<HistogramRow> rows;  // of a segment; from the first that is out of order on, all
  std::vector<DecodedColumn> space;
  bool is_in_order = true;
  const auto take = [&](uint64_t count, uint64_t raw_bytes, std::string_view data) -> Result<void> {
    const size_t first = is_in_order ? 0 : rows.size();
    rows.resize(first);
    RETURN_IF_ERROR(unpack_rows(count, raw_bytes, data, rows, space));
    const std::span<const HistogramRow> added = std::span(std::as_const(rows)).subspan(first);
    RETURN_IF_ERROR(check_rows("histograms", added, sizes, checked, sums));
    checked += added.size();
    if (!is_in_order) return {};
    const auto wrong = std::find_if(rows.begin(), rows.end(), [&](const HistogramRow& row) {
      return is_empty_cell(row) || !grouper.add(row);
    });
    if (wrong == rows.end()) return {};
    is_in_order = false;
    std::vector<HistogramRow> all = flatten_histograms(grouper.take());
    all.insert(all.end(), wrong, rows.end());
    rows = std::move(all);
    return {};
  };
  RETURN_IF_ERROR(visit_segments(database, "histograms", take));
  return is_in_order ? grouper.take() : make_histograms(std::move(rows), events);
}

template <class T>
Result<void> assign(Result<T> found, T& to) {
  if (!found) return found.error();
  to = *std::move(found);
  return {};
}

/// Whether the segments of a kind are more than its rows need.
Result<bool> is_scattered(const Database& database, std::string_view kind) {
  ASSIGN_OR_RETURN(Statement query,
                   database.prepare("SELECT count(*), total(rows) FROM segments WHERE kind = ?"));
  query.bind(0, kind);
  RETURN_IF_ERROR(query.step());
  const auto segments = static_cast<double>(query.integer(0).value_or(0));
  return segments > std::ceil(query.real(1).value_or(0) / static_cast<double>(kRowsPerPiece));
}

template <class Row>
Result<void> compact(const Database& database, std::string_view kind, const Profile& profile,
                     const TableSizes& sizes) {
  ASSIGN_OR_RETURN(const bool scattered, is_scattered(database, kind));
  if (!scattered) return {};
  ASSIGN_OR_RETURN(std::vector<Row> rows, read<Row>(database, kind, sizes));
  merge_rows(rows, profile.events);
  return replace_segments(database, kind, std::span<const Row>(rows));
}

}  // namespace

Result<void> append_counts(const Database& database, const Profile& profile, TableSizes& written) {
  const TableSizes sizes(profile);
  Result<void> good;
  visit_tables(
      [&]<class IdType, class Row>(ProfileTable<IdType> table, const std::vector<Row>& rows) {
        if constexpr (kIsPacked<Row>) {
          if (good) good = append_new(database, table.name, rows, sizes, written.of(IdType()));
        }
      },
      profile);
  RETURN_IF_ERROR(good);
  const std::vector<HistogramRow> cells = flatten_histograms(profile.histograms);
  RETURN_IF_ERROR(append(database, "histograms", std::span(cells), sizes));
  visit_flat_counts(
      [&]<class Row>(std::string_view kind, const std::vector<Row>& rows) {
        if (good) good = append(database, kind, std::span(rows), sizes);
      },
      profile);
  return good;
}

Result<void> compact_counts(const Database& database, const Profile& profile) {
  const TableSizes sizes(profile);
  Result<void> good;
  visit_tables(
      [&]<class Row>(const auto& table, const std::vector<Row>& rows) {
        if constexpr (kIsPacked<Row>) {
          if (good) good = replace(database, table.name, rows, sizes);
        }
      },
      profile);
  RETURN_IF_ERROR(good);
  RETURN_IF_ERROR(compact<HistogramRow>(database, "histograms", profile, sizes));
  visit_flat_counts(
      [&]<class Row>(std::string_view kind, const std::vector<Row>&) {
        if (good) good = compact<Row>(database, kind, profile, sizes);
      },
      profile);
  return good;
}

Result<void> read_counts(const Database& database, Profile& profile) {
  // Packed tables refer to each other and to themselves: all are read before one is checked.
  Result<void> good;
  visit_tables(
      [&]<class Row>(const auto& table, std::vector<Row>& rows) {
        if constexpr (kIsPacked<Row>) {
          if (good) good = assign(read_segments<Row>(database, table.name), rows);
        }
      },
      profile);
  RETURN_IF_ERROR(good);
  const TableSizes sizes(profile);
  visit_tables(
      [&]<class Row>(const auto& table, const std::vector<Row>& rows) {
        if constexpr (kIsPacked<Row> || kNamesPacked<Row>) {
          if (good) good = check_read(database.path(), table.name, rows, sizes);
        }
      },
      profile);
  RETURN_IF_ERROR(good);
  ASSIGN_OR_RETURN(profile.histograms, read_histograms(database, sizes, profile.events));
  visit_flat_counts(
      [&]<class Row>(std::string_view kind, std::vector<Row>& rows) {
        if (good) good = assign(read<Row>(database, kind, sizes), rows);
        if (good) merge_rows(rows, profile.events);
      },
      profile);
  return good;
}

}  // namespace culprit
