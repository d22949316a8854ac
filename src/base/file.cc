#include "base/file.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_faults.h"
#include "base/text.h"

namespace culprit {

namespace {

int64_t mtime_ns_of(const struct stat& status) {
  return status.st_mtim.tv_sec * int64_t{1'000'000'000} + status.st_mtim.tv_nsec;
}

}  // namespace

void Fd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<MappedFile> MappedFile::map(int fd, const std::string& name) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return errno_error("cannot read " + in_quotes(name), errno);
  if (!S_ISREG(status.st_mode))
    return Error{"cannot map " + in_quotes(name) + ": not a regular file"};
  Fd own(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!own) return errno_error("cannot map " + in_quotes(name), errno);
  if (status.st_size == 0) return MappedFile(std::move(own), mtime_ns_of(status), {});
  survive_file_faults();
  const size_t size_bytes = static_cast<size_t>(status.st_size);
  void* at = ::mmap(nullptr, size_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (at == MAP_FAILED) return errno_error("cannot map " + in_quotes(name), errno);
  return MappedFile(std::move(own), mtime_ns_of(status),
                    std::span(static_cast<const std::byte*>(at), size_bytes));
}

bool MappedFile::has_changed() const {
  struct stat status{};
  if (::fstat(fd_.get(), &status) != 0) return true;
  return static_cast<uint64_t>(status.st_size) != bytes_.size() || mtime_ns_of(status) != mtime_ns_;
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(mtime_ns_, other.mtime_ns_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

Result<Fd> open_readable(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return errno_error("cannot open " + in_quotes(path), errno);
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return errno_error("cannot read " + in_quotes(path), errno);
  if (S_ISDIR(status.st_mode))
    return Error{"cannot read " + in_quotes(path) + ": it is a directory"};
  if (!S_ISREG(status.st_mode))
    return Error{"cannot read " + in_quotes(path) + ": not a regular file"};
  return fd;
}

Result<std::string> read_fd(int fd, const std::string& name, uint64_t limit_bytes) {
  std::string content;
  struct stat status{};
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
    content.reserve(std::min(static_cast<uint64_t>(status.st_size), limit_bytes));
  }
  char buffer[1 << 16];
  while (true) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("cannot read " + in_quotes(name), errno);
    if (got == 0) return content;
    if (static_cast<uint64_t>(got) > limit_bytes - content.size()) {
      return Error{"cannot read " + in_quotes(name) + ": larger than " +
                   std::to_string(limit_bytes) + " bytes"};
    }
    content.append(buffer, static_cast<size_t>(got));
  }
}

Result<std::string> read_file(const std::string& path, uint64_t limit_bytes) {
  ASSIGN_OR_RETURN(Fd fd, open_readable(path));
  return read_fd(fd.get(), path, limit_bytes);
}

Result<Fd> copy_to_memory(std::string_view bytes) {
  Fd memory(::memfd_create("culprit", MFD_CLOEXEC));
  if (!memory) return errno_error("cannot make a file in memory", errno);
  while (!bytes.empty()) {
    const ssize_t written = ::write(memory.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno_error("cannot write a file in memory", errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  if (::lseek(memory.get(), 0, SEEK_SET) < 0) return errno_error("cannot rewind it", errno);
  return memory;
}

bool file_exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

Result<TemporaryFolder> TemporaryFolder::make() {
  std::error_code ignored;
  std::string path = std::filesystem::temp_directory_path(ignored).string();
  if (ignored) path = "/tmp";
  path += "/culprit-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    return errno_error("cannot make a temporary folder " + in_quotes(path), errno);
  }
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace culprit
