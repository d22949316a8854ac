#pragma once

// Files: an owning descriptor, a read-only mapping, and whole-file reading.
// Errors name the path and the system's reason.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace culprit {

/// An owned file descriptor; -1 is "none".
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

/// A file mapped read-only, private. Empty files map to an empty span. What it loses while it is
/// mapped reads as zeros (base/file_faults.h).
class MappedFile {
 public:
  /// `name` is used in messages only.
  static Result<MappedFile> map(int fd, const std::string& name);
  MappedFile(MappedFile&& other) noexcept
      : fd_(std::move(other.fd_)),
        mtime_ns_(other.mtime_ns_),
        bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  /// The file itself, open for reading.
  [[nodiscard]] int fd() const { return fd_.get(); }
  /// Somebody wrote to the file, or cut it, since it was mapped: its bytes may not fit together.
  [[nodiscard]] bool has_changed() const;

 private:
  MappedFile(Fd fd, int64_t mtime_ns, std::span<const std::byte> bytes)
      : fd_(std::move(fd)), mtime_ns_(mtime_ns), bytes_(bytes) {}
  Fd fd_;
  int64_t mtime_ns_ = 0;
  std::span<const std::byte> bytes_;
};

/// Opens a regular file for reading (O_CLOEXEC); directories, FIFOs and devices are errors.
Result<Fd> open_readable(const std::string& path);

/// The whole content, at most `limit_bytes`; more is an error. Works for /proc
/// files, whose size is not known before.
Result<std::string> read_file(const std::string& path, uint64_t limit_bytes = uint64_t{1} << 30);
Result<std::string> read_fd(int fd, const std::string& name,
                            uint64_t limit_bytes = uint64_t{1} << 30);

/// A file in memory that holds `bytes`, to read from its start.
Result<Fd> copy_to_memory(std::string_view bytes);

bool file_exists(const std::string& path);

/// A folder of temporary files that is removed with all it holds.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace culprit
