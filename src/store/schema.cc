#include "store/schema.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "store/table_rows.h"
#include "store/tables.h"

namespace culprit {

namespace {

// Small pages keep small profiles small: every table takes one at least.
constexpr int kPageBytes = 2048;

// What all segments and facts together may unfold to: the memory that a row takes, with what
// answering takes for it, and the bytes that pieces are packed from. Profiles of real counts have
// about one row a byte; those of very regular code some ten, and the floor is for small ones.
constexpr uint64_t kBytesPerRow = 192;
constexpr uint64_t kUnfoldedFloor = uint64_t{256} << 20;
constexpr uint64_t kUnfoldedPerFileByte = 1536;
constexpr std::string_view kBallast = "ballast";

constexpr uint64_t limit_unfolded_bytes(uint64_t file_bytes) {
  return kUnfoldedFloor + kUnfoldedPerFileByte * std::min(file_bytes, uint64_t{1} << 50);
}

struct SqlTable {
  std::string_view name;
  std::string sql;
};

const std::vector<SqlTable>& tables() {
  static const std::vector<SqlTable> kTables = [] {
    std::vector<SqlTable> all = {
        {"meta", "CREATE TABLE meta(section TEXT, key TEXT, value)"},
        {"strings", create_statement<TextRow>("strings")},
    };
    const Profile any;
    visit_tables(
        [&]<class Row>(const auto& table, const std::vector<Row>&) {
          if constexpr (!kIsPacked<Row>) {
            all.push_back({table.name, create_statement<Row>(table.name)});
          }
          if constexpr (std::is_same_v<Row, Run>) {
            all.push_back({kRunLabels, create_statement<RunLabel>(kRunLabels)});
          }
        },
        any);
    all.push_back({"segments",
                   "CREATE TABLE segments(id INTEGER PRIMARY KEY, kind TEXT, rows INTEGER, "
                   "raw_bytes INTEGER, data BLOB)"});
    all.push_back({"image_facts",
                   "CREATE TABLE image_facts(id INTEGER PRIMARY KEY, architecture TEXT, "
                   "symbol_source INTEGER, has_lines INTEGER, debug_file TEXT, missing TEXT)"});
    all.push_back({"facts",
                   "CREATE TABLE facts(id INTEGER PRIMARY KEY, part TEXT, rows INTEGER, "
                   "raw_bytes INTEGER, data BLOB)"});
    return all;
  }();
  return kTables;
}

Error not_a_profile(const std::string& path) {
  return Error{in_quotes(path) + " is not a profile of Culprit", ErrorKind::bad_input};
}

Error nothing_in(const std::string& path) {
  return Error{in_quotes(path) + " is empty: nothing was recorded in it", ErrorKind::bad_input};
}

/// What to do about a profile of somebody else: profiles are made readable by their owners alone.
std::string describe_owner(const std::string& path, const struct stat& status) {
  if (status.st_uid != 0)
    return fmt::format("\nit belongs to user {}, who has to let you read it", status.st_uid);
  return fmt::format("\nit was recorded as root: `sudo chown $USER {}` makes it yours", path);
}

/// What can be said of a file by its name alone.
Result<void> check_path(const std::string& path, Database::Access access) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0)
    return errno_error("cannot open " + in_quotes(path), errno);
  if (S_ISDIR(status.st_mode))
    return Error{"cannot read " + in_quotes(path) + ": it is a directory", ErrorKind::bad_input};
  if (!S_ISREG(status.st_mode))
    return Error{"cannot read " + in_quotes(path) + ": not a regular file", ErrorKind::bad_input};
  if (status.st_size == 0) return nothing_in(path);
  const int wanted = access == Database::Access::read ? R_OK : R_OK | W_OK;
  if (::access(path.c_str(), wanted) != 0) {
    const std::string verb = access == Database::Access::read ? "read" : "write";
    const int reason = errno;
    Error refused = errno_error("cannot " + verb + " " + in_quotes(path), reason);
    if (reason == EACCES && status.st_uid != ::geteuid())
      refused.message += describe_owner(path, status);
    return refused;
  }
  return {};
}

uint32_t big_endian(std::string_view bytes) {
  uint32_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

/// Looks at the header of the database file (https://www.sqlite.org/fileformat.html, 1.3).
Result<void> check_head(const Database& database) {
  constexpr std::string_view kMagic{"SQLite format 3\0", 16};
  const std::string& path = database.path();
  const Database::Head head = database.read_head(100);
  const std::string_view bytes = head.bytes;
  if (bytes.empty() || !bytes.starts_with(kMagic.substr(0, bytes.size())))
    return not_a_profile(path);
  if (bytes.size() < 100) {
    return Error{in_quotes(path) + " is truncated: its header is incomplete", ErrorKind::damaged};
  }
  if (big_endian(bytes.substr(68, 4)) != kApplicationId) return not_a_profile(path);
  const uint32_t version = big_endian(bytes.substr(60, 4));
  if (version > kFormatVersion) {
    return Error{
        fmt::format(
            "{} was made by a newer version of Culprit (format {}; this one reads up to {})",
            in_quotes(path), version, kFormatVersion),
        ErrorKind::bad_input};
  }
  if (version == 0) return not_a_profile(path);
  const uint64_t page_bytes = std::max(uint32_t{512}, big_endian(bytes.substr(16, 2)));
  const uint64_t should_be = big_endian(bytes.substr(28, 4)) * page_bytes;
  if (head.file_bytes < should_be && !file_exists(path + "-journal")) {
    return Error{fmt::format("{} is truncated: it has {} of {} bytes", in_quotes(path),
                             head.file_bytes, should_be),
                 ErrorKind::damaged};
  }
  return {};
}

/// CREATE TABLE name(column TYPE, ...): words, commas and one pair of parentheses, so
/// that no expression can hide in it that SQLite would run.
bool is_plain_table(std::string_view sql) {
  static const std::set<std::string_view> kWords = {"CREATE", "TABLE", "INTEGER", "REAL",
                                                    "TEXT",   "BLOB",  "PRIMARY", "KEY"};
  if (std::count(sql.begin(), sql.end(), '(') != 1 || !sql.starts_with("CREATE TABLE ") ||
      sql.find(')') != sql.size() - 1) {
    return false;
  }
  std::string_view word;
  for (size_t i = 0; i < sql.size(); ++i) {
    const char c = sql[i];
    const bool in_word =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
    if (in_word) {
      word = word.empty() ? sql.substr(i, 1) : sql.substr(i - word.size(), word.size() + 1);
      continue;
    }
    if (c != ' ' && c != ',' && c != '(' && c != ')') return false;
    const bool is_name = std::none_of(word.begin(), word.end(),
                                      [](char letter) { return letter >= 'A' && letter <= 'Z'; });
    if (!is_name && !kWords.contains(word)) return false;
    word = {};
  }
  return true;
}

Result<void> check_schema(const Database& database) {
  const auto strange = [&](std::string_view what) {
    return Error{fmt::format("{} is not a profile that Culprit wrote: it has {}",
                             in_quotes(database.path()), what),
                 ErrorKind::damaged};
  };
  ASSIGN_OR_RETURN(Statement query, database.prepare("SELECT type, name, sql FROM sqlite_schema"));
  std::set<std::string, std::less<>> found;
  while (true) {
    ASSIGN_OR_RETURN(const bool has_row, query.step());
    if (!has_row) break;
    const std::string type(query.text(0).value_or(""));
    if (type != "table") return strange("a " + printable(type) + " in it");
    if (!is_plain_table(query.text(2).value_or(""))) return strange("a table of another kind");
    found.emplace(query.text(1).value_or(""));
    if (found.size() > 100) return strange("too many tables");
  }
  if (found.empty()) return nothing_in(database.path());
  for (const SqlTable& table : tables()) {
    if (!found.contains(table.name)) return strange(fmt::format("no table '{}'", table.name));
  }
  return {};
}

/// What the segments and facts claim to unfold to; nullopt if that is more than `limit`.
Result<std::optional<uint64_t>> sum_unfolded_bytes(const Database& database, uint64_t limit) {
  uint64_t sum = 0;
  for (const char* sql : {"SELECT rows, raw_bytes FROM segments ORDER BY id",
                          "SELECT rows, raw_bytes FROM facts ORDER BY id"}) {
    ASSIGN_OR_RETURN(Statement query, database.prepare(sql));
    while (true) {
      ASSIGN_OR_RETURN(const bool has_row, query.step());
      if (!has_row) break;
      const auto rows = static_cast<uint64_t>(query.integer(0).value_or(-1));
      const auto raw_bytes = static_cast<uint64_t>(query.integer(1).value_or(-1));
      // An empty piece counts as a row, so that there is an end to them.
      if (raw_bytes > limit - sum || rows >= (limit - sum - raw_bytes) / kBytesPerRow)
        return std::optional<uint64_t>();
      sum += raw_bytes + (rows + 1) * kBytesPerRow;
    }
  }
  return std::optional(sum);
}

/// Refuses files that would grow without measure when unpacked.
Result<void> check_sizes(const Database& database) {
  const uint64_t limit = limit_unfolded_bytes(database.read_head(1).file_bytes);
  ASSIGN_OR_RETURN(const std::optional<uint64_t> unfolded, sum_unfolded_bytes(database, limit));
  if (unfolded) return {};
  return Error{
      fmt::format(
          "{} is damaged or hostile: it claims more than it can hold (to unfold to more than {})",
          in_quotes(database.path()), format_bytes(limit)),
      ErrorKind::damaged};
}

Result<void> check_content(const Database& database) {
  RETURN_IF_ERROR(check_head(database));
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::begin(database, Transaction::Kind::read));
  RETURN_IF_ERROR(check_schema(database));
  RETURN_IF_ERROR(check_sizes(database));
  return transaction.commit();
}

}  // namespace

Result<void> create_tables(const Database& database) {
  // Nothing can be lost yet, so nothing waits for the disk.
  std::string sql = fmt::format(
      "PRAGMA page_size = {}; PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF; "
      "PRAGMA secure_delete = OFF; BEGIN; PRAGMA application_id = {}; PRAGMA user_version = {};",
      kPageBytes, kApplicationId, kFormatVersion);
  for (const SqlTable& table : tables()) sql += table.sql + ";";
  return database.execute(sql + "COMMIT; PRAGMA synchronous = NORMAL;");
}

Result<void> balance_size(const Database& database) {
  ASSIGN_OR_RETURN(Statement remove, database.prepare("DELETE FROM segments WHERE kind = ?"));
  remove.bind(0, kBallast);
  RETURN_IF_ERROR(remove.run());
  ASSIGN_OR_RETURN(const std::optional<uint64_t> unfolded,
                   sum_unfolded_bytes(database, UINT64_MAX));
  ASSIGN_OR_RETURN(const int64_t pages, database.query_integer("PRAGMA page_count"));
  ASSIGN_OR_RETURN(const int64_t free_pages, database.query_integer("PRAGMA freelist_count"));
  const uint64_t limit =
      limit_unfolded_bytes(static_cast<uint64_t>(pages - free_pages) * kPageBytes);
  if (!unfolded || *unfolded + kBytesPerRow <= limit) return {};
  ASSIGN_OR_RETURN(Statement insert,
                   database.prepare("INSERT INTO segments(kind, rows, raw_bytes, data) "
                                    "VALUES(?, 0, 0, zeroblob(?))"));
  insert.bind(0, kBallast);
  insert.bind(1, (*unfolded + kBytesPerRow - limit) / kUnfoldedPerFileByte + kPageBytes);
  return insert.run();
}

Result<std::unique_ptr<Database>> open_database(const std::string& path, Database::Access access) {
  RETURN_IF_ERROR(check_path(path, access));
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database, Database::open(path, access));
  Result<void> good = check_content(*database);
  if (!good && access == Database::Access::read && database->needs_recovery()) {
    // An interrupted writer left its journal: rolling it back needs a handle that may write.
    database.reset();
    Result<std::unique_ptr<Database>> writable = Database::open(path, Database::Access::write);
    if (writable) good = check_content(**writable);
    if (!writable || (!good && ((*writable)->is_readonly() || (*writable)->needs_recovery()))) {
      return Error{
          fmt::format("cannot read {0}: its recording was interrupted, and {1} must be rolled "
                      "back first, which is not permitted here\n"
                      "copy both files into a folder that you may write, and read it there",
                      in_quotes(path), in_quotes(path + "-journal"))};
    }
    database = *std::move(writable);
  }
  if (!good) return good.error();
  if (access != Database::Access::read) {
    if (database->is_readonly())
      return Error{"cannot write " + in_quotes(path) + ": it is read-only", ErrorKind::refused};
    RETURN_IF_ERROR(database->execute(
        "PRAGMA journal_mode = DELETE; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = OFF"));
  }
  return database;
}

}  // namespace culprit
