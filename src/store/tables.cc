#include "store/tables.h"

#include "store/check_rows.h"
#include "store/meta.h"
#include "store/table_rows.h"

namespace culprit {

namespace {

Result<void> append_strings(const Database& database, const StringTable& strings, size_t first) {
  ASSIGN_OR_RETURN(Statement insert, database.prepare("INSERT INTO strings VALUES(?, ?)"));
  for (size_t i = first; i < strings.size(); ++i) {
    insert.bind(0, uint64_t{i});
    insert.bind(1, std::string_view(strings.text(StringId(i))));
    RETURN_IF_ERROR(insert.run());
  }
  return {};
}

Result<void> read_strings(const Database& database, StringTable& strings) {
  ASSIGN_OR_RETURN(Statement query, database.prepare("SELECT id, text FROM strings"));
  for (size_t row = 0;; ++row) {
    ASSIGN_OR_RETURN(const bool has_row, query.step());
    if (!has_row) return {};
    const std::optional<std::string_view> text = query.text(1);
    // Each text once, the empty one first: else interning would shift the ids.
    if (query.integer(0) != static_cast<int64_t>(row) || !text ||
        strings.intern(*text) != StringId(row)) {
      return bad_row(database, "strings", row);
    }
  }
}

std::vector<RunLabel> collect_labels(const Profile& profile) {
  std::vector<RunLabel> labels;
  for (size_t run = 0; run < profile.runs.size(); ++run) {
    for (const auto& [name, value] : profile.runs[run].labels) {
      labels.push_back({RunId(run), name, value});
    }
  }
  return labels;
}

/// Appends the rows of a table from `written` on, checked.
template <class Row>
Result<void> append(const Database& database, std::string_view table, const std::vector<Row>& rows,
                    const TableSizes& sizes, size_t& written) {
  CHECK(written <= rows.size());
  const std::span<const Row> all(rows);
  RETURN_IF_ERROR(check_rows(table, all.subspan(written), sizes, written));
  RETURN_IF_ERROR(insert_rows(database, table, all, written));
  written = rows.size();
  return {};
}

template <class Row>
Result<void> rewrite(const Database& database, std::string_view table, const std::vector<Row>& rows,
                     const TableSizes& sizes) {
  RETURN_IF_ERROR(database.execute(fmt::format("DELETE FROM {}", table)));
  size_t written = 0;
  return append(database, table, rows, sizes, written);
}

template <class Row>
Result<void> read(const Database& database, std::string_view table, std::vector<Row>& rows) {
  ASSIGN_OR_RETURN(rows, select_rows<Row>(database, table));
  return {};
}

}  // namespace

namespace {

/// The short tables whose rows change while recording.
template <class Row>
inline constexpr bool kIsRewritten = std::is_same_v<Row, Run> || std::is_same_v<Row, Event>;

}  // namespace

Result<void> append_tables(const Database& database, const Profile& profile, bool is_complete,
                           TableSizes& written, Runs runs) {
  const TableSizes sizes(profile);
  RETURN_IF_ERROR(write_meta(database, profile, is_complete));
  Result<void> good;
  visit_tables(
      [&]<class Row>(const auto& table, const std::vector<Row>& rows) {
        if constexpr (std::is_same_v<Row, Run>) {
          if (runs == Runs::are_final) return;
          if (good) good = rewrite(database, kRunLabels, collect_labels(profile), sizes);
        }
        if constexpr (kIsRewritten<Row>) {
          if (good) good = rewrite(database, table.name, rows, sizes);
        }
      },
      profile);
  if (runs == Runs::are_final && good) {
    size_t labels = 0;  // that are there
    for (size_t run = 0; run < written.of(RunId()); ++run)
      labels += profile.runs[run].labels.size();
    good = append(database, kRunLabels, collect_labels(profile), sizes, labels);
    if (good) good = append(database, "runs", profile.runs, sizes, written.of(RunId()));
  }
  RETURN_IF_ERROR(good);
  RETURN_IF_ERROR(append_strings(database, profile.strings, written.of(StringId())));
  written.of(StringId()) = profile.strings.size();
  visit_tables(
      [&]<class IdType, class Row>(ProfileTable<IdType> table, const std::vector<Row>& rows) {
        if constexpr (!kIsRewritten<Row> && !kIsPacked<Row>) {
          if (good) good = append(database, table.name, rows, sizes, written.of(IdType()));
        }
      },
      profile);
  return good;
}

Result<void> clear_tables(const Database& database) {
  std::string sql = "DELETE FROM strings";
  const Profile any;
  visit_tables(
      [&]<class Row>(const auto& table, const std::vector<Row>&) {
        if constexpr (!kIsRewritten<Row> && !kIsPacked<Row>) {
          sql += fmt::format("; DELETE FROM {}", table.name);
        }
      },
      any);
  return database.execute(sql);
}

Result<Profile> read_tables(const Database& database) {
  Profile profile;
  RETURN_IF_ERROR(read_meta(database, profile));
  RETURN_IF_ERROR(read_strings(database, profile.strings));
  Result<void> good;
  visit_tables(
      [&]<class Row>(const auto& table, std::vector<Row>& rows) {
        if constexpr (!kIsPacked<Row>) {
          if (good) good = read(database, table.name, rows);
        }
      },
      profile);
  RETURN_IF_ERROR(good);
  std::vector<RunLabel> labels;
  RETURN_IF_ERROR(read(database, kRunLabels, labels));

  const TableSizes sizes(profile);
  visit_tables(
      [&]<class Row>(const auto& table, const std::vector<Row>& rows) {
        if constexpr (!kIsPacked<Row> && !kNamesPacked<Row>) {
          if (good) good = check_read(database.path(), table.name, rows, sizes);
        }
      },
      profile);
  RETURN_IF_ERROR(good);
  RETURN_IF_ERROR(check_read(database.path(), kRunLabels, labels, sizes));
  for (const RunLabel& label : labels) {
    if (label.run.is_all()) return bad_row(database, kRunLabels, 0);
    profile.runs[label.run.value].labels.emplace(label.name, label.value);
  }
  return profile;
}

}  // namespace culprit
