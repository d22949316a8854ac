#pragma once

// A folder through which a profiled program tells what it does: rings of samples, files of counts.
//
// Whoever makes one holds a lock on it for as long as he lives, which the kernel releases however
// he ends. So what a killed culprit left behind, mostly in memory, is known for that and removed
// by the next one of the same user.

#include <cstdint>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace culprit {

class SharedFolder {
 public:
  /// Makes one in memory (/dev/shm) if `room_bytes` are free there, else in the folder for
  /// temporary files.
  static Result<SharedFolder> make(uint64_t room_bytes);
  SharedFolder(SharedFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  SharedFolder& operator=(SharedFolder&&) = delete;
  ~SharedFolder();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  SharedFolder(std::string path, Fd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  Fd lock_;
};

}  // namespace culprit
