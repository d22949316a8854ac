#pragma once

// The database is a folder:
//
//     DIR/version          "culprit epochs 1"
//     DIR/lock             held by its daemon
//     DIR/epochs/          finished epochs, named by time (epoch_name.h)
//     DIR/current/         the one that grows; a reader may ask it at any time
//     DIR/facts/           what reports need to know of images, once for each (room session)
//     DIR/damaged/         what could not be read when it was found unfinished
//
// A file enters epochs/ by being renamed, complete. Whoever only reads needs no lock.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "epochs/epoch_name.h"

namespace culprit {

struct EpochFile {
  EpochName name;
  std::string path;
  uint64_t size_bytes = 0;
  bool is_current = false;
};

class EpochDatabase {
 public:
  /// Opens it to read. Errors: there is none, it is of a later version, it may not be read.
  static Result<EpochDatabase> open(const std::string& folder);
  /// Opens it for its daemon: made if there is none, locked until it goes; epochs that a killed
  /// daemon left unfinished are closed and renamed. Errors: another daemon has it, it may not be
  /// written.
  static Result<EpochDatabase> claim(const std::string& folder);

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] std::string facts_folder() const { return folder_ + "/facts"; }
  [[nodiscard]] std::string socket_path() const { return folder_ + "/socket"; }
  /// What claim() had to say of what it found.
  [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }

  /// All epochs that there are, by start, the current ones among them (their length is by their
  /// last flush). Files with other names are left out.
  [[nodiscard]] std::vector<EpochFile> list() const;
  /// The files of an interval, by start.
  [[nodiscard]] std::vector<EpochFile> find(const TimeSpan& span) const;

  /// The path of a new epoch that begins at `start_s` and grows.
  std::string path_of_next(int64_t start_s);
  /// It is complete, and `length_s` long: it gets its name. Returns its new path.
  Result<std::string> finish(const std::string& path, uint64_t length_s);

 private:
  EpochDatabase(std::string folder, Fd lock) : folder_(std::move(folder)), lock_(std::move(lock)) {}
  void recover();

  std::string folder_;
  Fd lock_;
  std::string boot_;
  uint32_t next_ = 1;
  std::vector<std::string> remarks_;
};

/// The database that a file is an epoch of; "" if none is around it.
std::string find_database_around(const std::string& path);

/// This boot, as names have it.
std::string read_boot();

}  // namespace culprit
