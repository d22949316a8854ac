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

template <class Row>
Result<void> check(const Database& database, std::string_view table, const std::vector<Row>& rows,
                   const TableSizes& sizes) {
  if (const Result<void> good = check_rows(table, std::span<const Row>(rows), sizes); !good) {
    return Error{"'" + database.path() + "' is damaged: " + good.error().message};
  }
  return {};
}

}  // namespace

TableSizes::TableSizes(const Profile& profile)
    : strings(profile.strings.size()),
      runs(profile.runs.size()),
      processes(profile.processes.size()),
      threads(profile.threads.size()),
      contexts(profile.contexts.size()),
      events(profile.events.size()),
      images(profile.images.size()),
      stacks(profile.stacks.size()),
      objects(profile.objects.size()),
      regions(profile.regions.size()) {}

Result<void> append_tables(const Database& database, const Profile& profile, bool is_complete,
                           RowsWritten& written) {
  const TableSizes sizes(profile);
  RETURN_IF_ERROR(write_meta(database, profile, is_complete));
  RETURN_IF_ERROR(rewrite(database, "runs", profile.runs, sizes));
  RETURN_IF_ERROR(rewrite(database, "run_labels", collect_labels(profile), sizes));
  RETURN_IF_ERROR(rewrite(database, "events", profile.events, sizes));
  RETURN_IF_ERROR(append_strings(database, profile.strings, written.strings));
  written.strings = profile.strings.size();
  RETURN_IF_ERROR(append(database, "processes", profile.processes, sizes, written.processes));
  RETURN_IF_ERROR(append(database, "threads", profile.threads, sizes, written.threads));
  RETURN_IF_ERROR(append(database, "contexts", profile.contexts, sizes, written.contexts));
  RETURN_IF_ERROR(append(database, "images", profile.images, sizes, written.images));
  RETURN_IF_ERROR(append(database, "objects", profile.objects, sizes, written.objects));
  return append(database, "regions", profile.regions, sizes, written.regions);
}

Result<void> clear_tables(const Database& database) {
  return database.execute(
      "DELETE FROM strings; DELETE FROM processes; DELETE FROM threads; DELETE FROM contexts; "
      "DELETE FROM images; DELETE FROM objects; DELETE FROM regions");
}

Result<Profile> read_tables(const Database& database) {
  Profile profile;
  RETURN_IF_ERROR(read_meta(database, profile));
  RETURN_IF_ERROR(read_strings(database, profile.strings));
  RETURN_IF_ERROR(read(database, "runs", profile.runs));
  RETURN_IF_ERROR(read(database, "processes", profile.processes));
  RETURN_IF_ERROR(read(database, "threads", profile.threads));
  RETURN_IF_ERROR(read(database, "contexts", profile.contexts));
  RETURN_IF_ERROR(read(database, "events", profile.events));
  RETURN_IF_ERROR(read(database, "images", profile.images));
  RETURN_IF_ERROR(read(database, "objects", profile.objects));
  RETURN_IF_ERROR(read(database, "regions", profile.regions));
  std::vector<RunLabel> labels;
  RETURN_IF_ERROR(read(database, "run_labels", labels));

  const TableSizes sizes(profile);
  RETURN_IF_ERROR(check(database, "runs", profile.runs, sizes));
  RETURN_IF_ERROR(check(database, "processes", profile.processes, sizes));
  RETURN_IF_ERROR(check(database, "threads", profile.threads, sizes));
  RETURN_IF_ERROR(check(database, "contexts", profile.contexts, sizes));
  RETURN_IF_ERROR(check(database, "events", profile.events, sizes));
  RETURN_IF_ERROR(check(database, "images", profile.images, sizes));
  RETURN_IF_ERROR(check(database, "objects", profile.objects, sizes));
  RETURN_IF_ERROR(check(database, "regions", profile.regions, sizes));
  RETURN_IF_ERROR(check(database, "run_labels", labels, sizes));
  for (const RunLabel& label : labels) {
    if (label.run.is_all()) return bad_row(database, "run_labels", 0);
    profile.runs[label.run.value].labels.emplace(label.name, label.value);
  }
  return profile;
}

}  // namespace culprit
