#pragma once

// How other programs see that a profile is being written. SQLite locks a file only while it
// changes it; a recording has its file for as long as it takes. So a ProfileWriter holds a lock of
// its own on one byte that SQLite does not use, until it closes the file or is killed.

#include <string>

#include "base/file.h"
#include "base/result.h"

namespace culprit {

class WriterLock {
 public:
  /// Where the file system knows no locks there is none to hold, which is no error.
  /// Errors: another program is writing the file at `path`.
  static Result<WriterLock> take(const std::string& path);

 private:
  explicit WriterLock(Fd file) : file_(std::move(file)) {}
  Fd file_;
};

/// Whether somebody holds that lock on the open file.
bool is_being_written(int fd);

/// Whether the open file begins as a profile does. It may be damaged.
bool looks_like_profile(int fd);

}  // namespace culprit
