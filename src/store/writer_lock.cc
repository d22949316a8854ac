#include "store/writer_lock.h"

#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

#include "base/text.h"
#include "store/schema.h"

namespace culprit {

namespace {

// SQLite's own locks are on the 512 bytes from 0x40000000 on, whether the file has them or not
// (https://www.sqlite.org/fileformat.html, 1.6).
constexpr off_t kLockedByte = 0x40001000;

// The lock belongs to the open file and not to the process: SQLite, which closes other descriptors
// of the same file, does not let go of it.
struct flock describe_lock() {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = kLockedByte;
  lock.l_len = 1;
  return lock;
}

}  // namespace

Result<WriterLock> WriterLock::take(const std::string& path) {
  Fd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file) return errno_error("cannot write " + in_quotes(path), errno);
  struct flock lock = describe_lock();
  if (::fcntl(file.get(), F_OFD_SETLK, &lock) != 0 && (errno == EAGAIN || errno == EACCES)) {
    return Error{"cannot write " + in_quotes(path) + ": another program is recording into it"};
  }
  return WriterLock(std::move(file));
}

bool is_being_written(int fd) {
  struct flock lock = describe_lock();
  return ::fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool looks_like_profile(int fd) {
  constexpr std::string_view kMagic{"SQLite format 3\0", 16};
  constexpr size_t kApplicationIdAt = 68;
  unsigned char head[kApplicationIdAt + 4];
  if (::pread(fd, head, sizeof head, 0) != static_cast<ssize_t>(sizeof head)) return false;
  if (std::string_view(reinterpret_cast<const char*>(head), kMagic.size()) != kMagic) return false;
  uint32_t id = 0;
  for (size_t i = 0; i < 4; ++i) id = id << 8 | head[kApplicationIdAt + i];
  return id == kApplicationId;
}

}  // namespace culprit
