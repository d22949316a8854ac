#include "store/counts.h"

#include <cmath>

#include "model/merge.h"
#include "store/check_rows.h"
#include "store/segments.h"

namespace culprit {

namespace {

/// Calls visit(kind, rows) for each kind of count but histograms, whose rows are flat in
/// the file only. The kinds are the names in the file.
void visit_counts(auto&& visit, auto& profile) {
  visit("stack_counts", profile.stack_counts);
  visit("branch_counts", profile.branch_counts);
  visit("fall_throughs", profile.fall_throughs);
  visit("memory_samples", profile.memory_samples);
  visit("counts", profile.counts);
  visit("accesses", profile.accesses);
  visit("tenures", profile.tenures);
  visit("edges", profile.edges);
  visit("region_values", profile.region_values);
}

template <class Row>
void merge(std::vector<Row>& rows, const std::vector<Event>& events) {
  if constexpr (std::is_same_v<Row, HistogramRow> || std::is_same_v<Row, StackCount>) {
    merge_rows(rows, events);
  } else {
    merge_rows(rows);
  }
}

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
  if (const Result<void> good = check_rows(kind, std::span<const Row>(rows), sizes); !good) {
    return Error{"'" + database.path() + "' is damaged: " + good.error().message};
  }
  return rows;
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
  merge(rows, profile.events);
  return replace_segments(database, kind, std::span<const Row>(rows));
}

}  // namespace

Result<void> append_counts(const Database& database, const Profile& profile, RowsWritten& written) {
  const TableSizes sizes(profile);
  RETURN_IF_ERROR(append_new(database, "stacks", profile.stacks, sizes, written.stacks));
  RETURN_IF_ERROR(
      append_new(database, "object_ranges", profile.object_ranges, sizes, written.object_ranges));
  const std::vector<HistogramRow> cells = flatten_histograms(profile.histograms);
  RETURN_IF_ERROR(append(database, "histograms", std::span(cells), sizes));
  Result<void> good;
  visit_counts(
      [&]<class Row>(std::string_view kind, const std::vector<Row>& rows) {
        if (good) good = append(database, kind, std::span(rows), sizes);
      },
      profile);
  return good;
}

Result<void> compact_counts(const Database& database, const Profile& profile) {
  const TableSizes sizes(profile);
  RETURN_IF_ERROR(replace(database, "stacks", profile.stacks, sizes));
  RETURN_IF_ERROR(replace(database, "object_ranges", profile.object_ranges, sizes));
  RETURN_IF_ERROR(compact<HistogramRow>(database, "histograms", profile, sizes));
  Result<void> good;
  visit_counts(
      [&]<class Row>(std::string_view kind, const std::vector<Row>&) {
        if (good) good = compact<Row>(database, kind, profile, sizes);
      },
      profile);
  return good;
}

Result<void> read_counts(const Database& database, Profile& profile) {
  // Stacks refer to each other: their own number is the size that counts.
  ASSIGN_OR_RETURN(profile.stacks, read_segments<StackNode>(database, "stacks"));
  const TableSizes sizes(profile);
  if (const Result<void> good =
          check_rows("stacks", std::span<const StackNode>(profile.stacks), sizes);
      !good) {
    return Error{"'" + database.path() + "' is damaged: " + good.error().message};
  }
  ASSIGN_OR_RETURN(profile.object_ranges, read<ObjectRange>(database, "object_ranges", sizes));
  ASSIGN_OR_RETURN(std::vector<HistogramRow> cells,
                   read<HistogramRow>(database, "histograms", sizes));
  profile.histograms = make_histograms(std::move(cells), profile.events);
  Result<void> good;
  visit_counts(
      [&]<class Row>(std::string_view kind, std::vector<Row>& rows) {
        if (!good) return;
        Result<std::vector<Row>> found = read<Row>(database, kind, sizes);
        if (!found) {
          good = found.error();
          return;
        }
        rows = *std::move(found);
        merge(rows, profile.events);
      },
      profile);
  return good;
}

}  // namespace culprit
