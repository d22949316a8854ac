#include "store/database.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"

namespace culprit {

namespace {

constexpr int kBusyTimeoutMs = 10'000;

bool is_recovery_code(int code, const std::string& path) {
  return code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY ||
         code == SQLITE_READONLY_CANTINIT ||
         ((code & 0xff) == SQLITE_CANTOPEN && file_exists(path + "-journal"));
}

/// Switches off what a database file could use against its reader, and what we never need.
void harden(sqlite3* handle) {
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 256 << 20);
  sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 100'000);
  sqlite3_limit(handle, SQLITE_LIMIT_COLUMN, 100);
  sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 20);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1);  // VACUUM takes one
  sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
}

}  // namespace

// --- Statement --------------------------------------------------------------------------

void Statement::Close::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

// Binding fails only for a position that is not in the statement: our mistake.

void Statement::bind(int at, int64_t value) {
  CHECK(sqlite3_bind_int64(handle_.get(), at + 1, value) == SQLITE_OK);
}

void Statement::bind(int at, double value) {
  CHECK(sqlite3_bind_double(handle_.get(), at + 1, value) == SQLITE_OK);
}

void Statement::bind_null(int at) {
  CHECK(sqlite3_bind_null(handle_.get(), at + 1) == SQLITE_OK);
}

void Statement::bind(int at, std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return bind_blob(at, text);
  CHECK(sqlite3_bind_text64(handle_.get(), at + 1, text.data() != nullptr ? text.data() : "",
                            text.size(), SQLITE_STATIC, SQLITE_UTF8) == SQLITE_OK);
}

void Statement::bind_blob(int at, std::string_view bytes) {
  CHECK(sqlite3_bind_blob64(handle_.get(), at + 1, bytes.data(), bytes.size(), SQLITE_STATIC) ==
        SQLITE_OK);
}

Result<bool> Statement::step() {
  switch (sqlite3_step(handle_.get())) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default: {
      Error error = database_->error();
      sqlite3_reset(handle_.get());
      return error;
    }
  }
}

Result<void> Statement::run() {
  RETURN_IF_ERROR(step());
  sqlite3_reset(handle_.get());
  return {};
}

int Statement::columns() const {
  return sqlite3_column_count(handle_.get());
}

std::string_view Statement::column_name(int column) const {
  const char* name = sqlite3_column_name(handle_.get(), column);
  return name != nullptr ? name : "";
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}

std::optional<int64_t> Statement::integer(int column) const {
  if (sqlite3_column_type(handle_.get(), column) != SQLITE_INTEGER) return std::nullopt;
  return sqlite3_column_int64(handle_.get(), column);
}

std::optional<double> Statement::real(int column) const {
  const int type = sqlite3_column_type(handle_.get(), column);
  if (type != SQLITE_FLOAT && type != SQLITE_INTEGER) return std::nullopt;
  return sqlite3_column_double(handle_.get(), column);
}

std::optional<std::string_view> Statement::text(int column) const {
  const int type = sqlite3_column_type(handle_.get(), column);
  if (type != SQLITE_TEXT && type != SQLITE_BLOB) return std::nullopt;
  const void* bytes = type == SQLITE_TEXT
                          ? static_cast<const void*>(sqlite3_column_text(handle_.get(), column))
                          : sqlite3_column_blob(handle_.get(), column);
  const int size = sqlite3_column_bytes(handle_.get(), column);
  if (bytes == nullptr || size <= 0) return std::string_view();
  return std::string_view(static_cast<const char*>(bytes), static_cast<size_t>(size));
}

// --- Database ---------------------------------------------------------------------------

void Database::Close::operator()(sqlite3* handle) const {
  sqlite3_close(handle);
}

Result<std::unique_ptr<Database>> Database::open(const std::string& path, Access access) {
  // "./" keeps names like ":memory:" and "file:x" plain names.
  const std::string name = path.starts_with('/') ? path : "./" + path;
  // SQLite does not say why it could not make a file, and lets everybody read it. What a program
  // does, with its source text, concerns the one who recorded it; SQLite gives its journal the
  // same mode.
  constexpr int kNewFile = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  if (access == Access::create && !Fd(::open(name.c_str(), kNewFile, S_IRUSR | S_IWUSR))) {
    return errno_error("cannot write " + in_quotes(path), errno);
  }
  int flags = SQLITE_OPEN_NOMUTEX;
  if (access == Access::read) flags |= SQLITE_OPEN_READONLY;
  if (access == Access::write) flags |= SQLITE_OPEN_READWRITE;
  if (access == Access::create) flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* handle = nullptr;
  const int status = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  std::unique_ptr<Database> database(new Database(path, std::unique_ptr<sqlite3, Close>(handle)));
  if (handle == nullptr) return Error{"cannot open " + in_quotes(path) + ": out of memory"};
  if (status != SQLITE_OK) return database->error();
  harden(handle);
  RETURN_IF_ERROR(database->execute(
      "PRAGMA mmap_size = 0; PRAGMA cell_size_check = 1; PRAGMA temp_store = MEMORY"));
  return database;
}

Result<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &statement,
                         nullptr) != SQLITE_OK) {
    return error();
  }
  return Statement(std::unique_ptr<sqlite3_stmt, Statement::Close>(statement), this);
}

Result<void> Database::execute(const std::string& sql) const {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return error();
  }
  return {};
}

Result<int64_t> Database::query_integer(std::string_view sql) const {
  ASSIGN_OR_RETURN(Statement query, prepare(sql));
  ASSIGN_OR_RETURN(const bool has_row, query.step());
  return has_row ? query.integer(0).value_or(0) : 0;
}

Result<void> Database::copy_to(const std::string& path) const {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> copy, open(path, Access::create));
  constexpr int kAllPages = -1;
  sqlite3_backup* const backup =
      sqlite3_backup_init(copy->handle_.get(), "main", handle_.get(), "main");
  if (backup != nullptr) sqlite3_backup_step(backup, kAllPages);
  if (backup != nullptr && sqlite3_backup_finish(backup) == SQLITE_OK) return {};
  const Error error = copy->error();
  ::unlink(path.c_str());
  return error;
}

Database::Head Database::read_head(size_t count) const {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_FILE_POINTER, static_cast<void*>(&file));
  if (file == nullptr || file->pMethods == nullptr) return {};
  Head head{std::string(count, '\0'), 0};
  sqlite3_int64 size = 0;
  if (file->pMethods->xFileSize(file, &size) != SQLITE_OK || size <= 0) return {};
  head.file_bytes = static_cast<uint64_t>(size);
  if (head.file_bytes < count) head.bytes.resize(head.file_bytes);
  if (file->pMethods->xRead(file, head.bytes.data(), static_cast<int>(head.bytes.size()), 0) !=
      SQLITE_OK) {
    head.bytes.clear();
  }
  return head;
}

bool Database::is_readonly() const {
  return sqlite3_db_readonly(handle_.get(), "main") == 1;
}

Error Database::error() const {
  const int code = sqlite3_extended_errcode(handle_.get());
  const int system_error = sqlite3_system_errno(handle_.get());
  needs_recovery_ = needs_recovery_ || is_recovery_code(code, path_);
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return Error{in_quotes(path_) + " is not a profile of Culprit", ErrorKind::bad_input};
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
      return Error{in_quotes(path_) + " is damaged: " + sqlite3_errmsg(handle_.get()),
                   ErrorKind::damaged};
    case SQLITE_FULL:
      return Error{"cannot write " + in_quotes(path_) + ": no space left on the device",
                   ErrorKind::out_of_space};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error{"cannot use " + in_quotes(path_) +
                   ": another program is writing it; try again later"};
    case SQLITE_NOMEM:
      return Error{"cannot read " + in_quotes(path_) + ": out of memory"};
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return Error{"cannot write " + in_quotes(path_) + ": it, or its folder, may not be written",
                   ErrorKind::refused};
    default: {
      std::string message = "cannot use " + in_quotes(path_) + ": " + sqlite3_errmsg(handle_.get());
      if (system_error != 0) message += fmt::format(" ({})", std::strerror(system_error));
      return Error{message};
    }
  }
}

bool Database::is_in_transaction() const {
  return sqlite3_get_autocommit(handle_.get()) == 0;
}

// --- Transaction ------------------------------------------------------------------------

Result<Transaction> Transaction::begin(const Database& database, Kind kind) {
  RETURN_IF_ERROR(database.execute(kind == Kind::read ? "BEGIN" : "BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::~Transaction() {
  if (database_ == nullptr || !database_->is_in_transaction()) return;
  static_cast<void>(database_->execute("ROLLBACK"));
}

Result<void> Transaction::commit() {
  RETURN_IF_ERROR(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace culprit
