#pragma once

// A thin wrapper around SQLite: handles that close themselves, and errors that say
// what is wrong with which file. Nothing here knows what is in the file.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace culprit {

/// A prepared statement. Positions count from 0, for parameters and for columns.
class Statement {
 public:
  void bind(int at, int64_t value);
  void bind(int at, uint64_t value) { bind(at, static_cast<int64_t>(value)); }
  void bind(int at, double value);
  void bind_null(int at);
  /// The text must live until the next step() or reset(). It need not be valid UTF-8.
  void bind(int at, std::string_view text);
  void bind_blob(int at, std::string_view bytes);

  /// True if there is a row.
  Result<bool> step();
  /// Steps through a statement that gives no rows, and makes it ready for the next.
  Result<void> run();

  [[nodiscard]] int columns() const;
  [[nodiscard]] std::string_view column_name(int column) const;

  [[nodiscard]] bool is_null(int column) const;
  /// nullopt: not an integer.
  [[nodiscard]] std::optional<int64_t> integer(int column) const;
  /// An integer counts too; nullopt: not a number.
  [[nodiscard]] std::optional<double> real(int column) const;
  /// Valid until the next step(). nullopt: neither text nor blob.
  [[nodiscard]] std::optional<std::string_view> text(int column) const;

 private:
  friend class Database;
  struct Close {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(std::unique_ptr<sqlite3_stmt, Close> handle, const class Database* database)
      : handle_(std::move(handle)), database_(database) {}

  std::unique_ptr<sqlite3_stmt, Close> handle_;
  const Database* database_;
};

class Database {
 public:
  enum class Access : uint8_t { read, write, create };

  /// Opens with every defence that SQLite has against hostile files.
  static Result<std::unique_ptr<Database>> open(const std::string& path, Access access);

  Result<Statement> prepare(std::string_view sql) const;
  /// Runs one or more statements, whose rows are not wanted.
  Result<void> execute(const std::string& sql) const;
  /// The integer that a query gives (0 if it gives none).
  Result<int64_t> query_integer(std::string_view sql) const;

  /// Makes a new file of what was committed to this one. Errors: as open() to create; no space
  /// there, and then the new file is gone again.
  [[nodiscard]] Result<void> copy_to(const std::string& path) const;

  /// The first bytes of the file, as they are now, and its size. Not through a descriptor
  /// of our own: closing one would drop the locks that this process has on the file.
  struct Head {
    std::string bytes;
    uint64_t file_bytes = 0;
  };
  [[nodiscard]] Head read_head(size_t count) const;
  /// The system let us open the file for reading only, although writing was wanted.
  [[nodiscard]] bool is_readonly() const;

  /// Why the last call failed, for people.
  [[nodiscard]] Error error() const;
  /// A call failed because a journal beside the file must be rolled back first, which a
  /// read-only handle may not do.
  [[nodiscard]] bool needs_recovery() const { return needs_recovery_; }
  [[nodiscard]] bool is_in_transaction() const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  Database(std::string path, std::unique_ptr<sqlite3, Close> handle)
      : path_(std::move(path)), handle_(std::move(handle)) {}

  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
  mutable bool needs_recovery_ = false;
};

/// A transaction that is undone unless committed.
class Transaction {
 public:
  enum class Kind : uint8_t { read, write };
  static Result<Transaction> begin(const Database& database, Kind kind);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  Result<void> commit();

 private:
  explicit Transaction(const Database& database) : database_(&database) {}
  const Database* database_;
};

}  // namespace culprit
