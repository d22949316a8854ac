// ProfileWriter: transactions around what tables.h, counts.h and facts.h write.

#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "store/counts.h"
#include "store/facts.h"
#include "store/profile_file.h"
#include "store/schema.h"
#include "store/tables.h"
#include "store/writer_lock.h"

namespace culprit {

namespace {

// Facts can be made again, so they need not be safe one by one: each commit waits for
// the disk.
constexpr uint64_t kFactBytesPerCommit = uint64_t{16} << 20;

// VACUUM rewrites the whole file; it is worth that when it gives back this much.
constexpr int64_t kMinFreePages = 32;
constexpr int64_t kMinFreePart = 4;  // a quarter

Error cannot_write(const std::string& path, const Error& error) {
  if (error.message.find(printable(path)) != std::string::npos) return error;
  return error.with("cannot write " + in_quotes(path) + ": " + error.message);
}

}  // namespace

struct ProfileWriter::State {
  // The lock stands before the database, so that it is let go after it: closing any descriptor of a
  // file drops the locks that SQLite has there.
  WriterLock lock;
  std::unique_ptr<Database> database;
  TableSizes written;
  bool is_provisional = false;       // the counts that are there
  std::optional<Transaction> facts;  // open while facts are collected for one commit
  uint64_t fact_bytes = 0;

  State(WriterLock taken, std::unique_ptr<Database> opened)
      : lock(std::move(taken)), database(std::move(opened)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { static_cast<void>(commit_facts()); }

  Result<void> commit_facts() {
    if (!facts) return {};
    Transaction transaction = std::move(*facts);
    facts.reset();
    fact_bytes = 0;
    return transaction.commit();
  }

  Result<void> flush(const Profile& profile, Runs runs) {
    RETURN_IF_ERROR(commit_facts());
    ASSIGN_OR_RETURN(Transaction transaction,
                     Transaction::begin(*database, Transaction::Kind::write));
    TableSizes now = written;
    RETURN_IF_ERROR(append_tables(*database, profile, false, now, runs));
    RETURN_IF_ERROR(append_counts(*database, profile, now));
    RETURN_IF_ERROR(balance_size(*database));
    RETURN_IF_ERROR(transaction.commit());
    written = now;
    return {};
  }

  Result<void> replace(const Profile& profile) {
    RETURN_IF_ERROR(commit_facts());
    ASSIGN_OR_RETURN(Transaction transaction,
                     Transaction::begin(*database, Transaction::Kind::write));
    TableSizes now;
    RETURN_IF_ERROR(clear_tables(*database));
    RETURN_IF_ERROR(database->execute("DELETE FROM segments"));
    RETURN_IF_ERROR(append_tables(*database, profile, false, now));
    RETURN_IF_ERROR(append_counts(*database, profile, now));
    RETURN_IF_ERROR(balance_size(*database));
    RETURN_IF_ERROR(transaction.commit());
    written = now;
    is_provisional = true;
    return {};
  }

  Result<void> add_facts(ImageId image, const ImageFacts& image_facts) {
    if (!facts) {
      ASSIGN_OR_RETURN(Transaction transaction,
                       Transaction::begin(*database, Transaction::Kind::write));
      facts.emplace(std::move(transaction));
    }
    // Facts that cannot be written leave those of the other images alone.
    RETURN_IF_ERROR(database->execute("SAVEPOINT facts"));
    const Result<uint64_t> bytes = replace_facts(*database, image, image_facts);
    if (!bytes) {
      if (!database->execute("ROLLBACK TO facts; RELEASE facts")) {
        facts.reset();  // the whole transaction is gone: a full disk does that
      }
      return bytes.error();
    }
    RETURN_IF_ERROR(database->execute("RELEASE facts"));
    fact_bytes += *bytes;
    if (fact_bytes >= kFactBytesPerCommit) return commit_facts();
    return {};
  }

  Result<void> close(const Profile& profile, Compact compact) {
    RETURN_IF_ERROR(commit_facts());
    ASSIGN_OR_RETURN(Transaction transaction,
                     Transaction::begin(*database, Transaction::Kind::write));
    TableSizes now;
    RETURN_IF_ERROR(clear_tables(*database));
    if (is_provisional) RETURN_IF_ERROR(database->execute("DELETE FROM segments"));
    RETURN_IF_ERROR(append_tables(*database, profile, true, now));
    if (compact == Compact::now) {
      now = TableSizes(profile);  // compact_counts() rewrites the packed tables
    } else {
      now = is_provisional ? TableSizes{} : written;
    }
    RETURN_IF_ERROR(append_counts(*database, profile, now));
    if (compact == Compact::now) RETURN_IF_ERROR(compact_counts(*database, profile));
    RETURN_IF_ERROR(balance_size(*database));
    RETURN_IF_ERROR(transaction.commit());
    return compact == Compact::now ? vacuum_if_worthwhile() : Result<void>();
  }

  Result<void> vacuum_if_worthwhile() {
    ASSIGN_OR_RETURN(const int64_t free, database->query_integer("PRAGMA freelist_count"));
    ASSIGN_OR_RETURN(const int64_t pages, database->query_integer("PRAGMA page_count"));
    if (free < kMinFreePages || free < pages / kMinFreePart) return {};
    // The profile is complete without it: no room for a second copy is no failure.
    static_cast<void>(database->execute("VACUUM"));
    return {};
  }
};

ProfileWriter::ProfileWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
ProfileWriter::ProfileWriter(ProfileWriter&&) noexcept = default;
ProfileWriter& ProfileWriter::operator=(ProfileWriter&&) noexcept = default;
ProfileWriter::~ProfileWriter() = default;

Result<ProfileWriter> ProfileWriter::create(const std::string& path, Survives survives) {
  if (file_exists(path)) return Error{"cannot make " + in_quotes(path) + ": it exists already"};
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database,
                   Database::open(path, Database::Access::create));
  ASSIGN_OR_RETURN(WriterLock lock, WriterLock::take(path));
  if (const Result<void> created = create_tables(*database); !created) {
    // A full disk leaves a part of it, which would be in the way as soon as there is room.
    database.reset();
    for (const char* suffix : {"", "-journal"}) ::unlink((path + suffix).c_str());
    return created.error();
  }
  if (survives == Survives::process) {
    RETURN_IF_ERROR(database->execute("PRAGMA synchronous = OFF"));
  }
  return ProfileWriter(std::make_unique<State>(std::move(lock), std::move(database)));
}

Result<ProfileWriter> ProfileWriter::open(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database,
                   open_database(path, Database::Access::write));
  ASSIGN_OR_RETURN(WriterLock lock, WriterLock::take(path));
  return ProfileWriter(std::make_unique<State>(std::move(lock), std::move(database)));
}

Result<ProfileWriter> ProfileWriter::extend(const std::string& path, const Profile& held) {
  ASSIGN_OR_RETURN(ProfileWriter writer, open(path));
  writer.state_->written = TableSizes(held);
  return writer;
}

Result<void> ProfileWriter::move_to(const std::string& path) {
  CHECK(state_ != nullptr && state_->database != nullptr);
  const bool is_provisional = state_->is_provisional;
  if (file_exists(path)) return Error{"cannot make " + in_quotes(path) + ": it exists already"};
  RETURN_IF_ERROR(state_->database->copy_to(path));
  ASSIGN_OR_RETURN(ProfileWriter moved, open(path));
  moved.state_->written = state_->written;
  moved.state_->is_provisional = is_provisional;
  *this = std::move(moved);
  return {};
}

Result<void> ProfileWriter::flush(const Profile& profile) {
  CHECK(state_ != nullptr && state_->database != nullptr);
  const Result<void> done = state_->flush(profile, Runs::may_change);
  if (!done) return cannot_write(state_->database->path(), done.error());
  return {};
}

Result<void> ProfileWriter::append(const Profile& profile) {
  CHECK(state_ != nullptr && state_->database != nullptr);
  const Result<void> done = state_->flush(profile, Runs::are_final);
  if (!done) return cannot_write(state_->database->path(), done.error());
  return {};
}

Result<void> ProfileWriter::replace(const Profile& profile) {
  CHECK(state_ != nullptr && state_->database != nullptr);
  const Result<void> done = state_->replace(profile);
  if (!done) return cannot_write(state_->database->path(), done.error());
  return {};
}

Result<void> ProfileWriter::write_facts(ImageId image, const ImageFacts& facts) {
  CHECK(state_ != nullptr && state_->database != nullptr);
  const Result<void> done = state_->add_facts(image, facts);
  if (!done) return cannot_write(state_->database->path(), done.error());
  return {};
}

Result<void> ProfileWriter::close(const Profile& profile, Compact compact) {
  CHECK(state_ != nullptr && state_->database != nullptr);
  const Result<void> done = state_->close(profile, compact);
  if (!done) return cannot_write(state_->database->path(), done.error());
  state_.reset();  // closes the file
  return {};
}

Result<void> ProfileWriter::close() {
  CHECK(state_ != nullptr && state_->database != nullptr);
  RETURN_IF_ERROR(state_->commit_facts());
  Profile profile;
  {
    ASSIGN_OR_RETURN(Transaction transaction,
                     Transaction::begin(*state_->database, Transaction::Kind::read));
    ASSIGN_OR_RETURN(profile, read_tables(*state_->database));
    RETURN_IF_ERROR(read_counts(*state_->database, profile));
    RETURN_IF_ERROR(transaction.commit());
  }
  clear_counts(profile);  // they are in the file already
  return close(profile);
}

}  // namespace culprit
