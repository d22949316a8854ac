#include "recording/jit_files.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "base/number.h"
#include "base/text.h"

namespace culprit {

Fd open_process_root(uint32_t pid) {
  return Fd(::open(fmt::format("/proc/{}/root", pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

uint32_t read_pid_inside(uint32_t pid) {
  const std::string status = read_file(fmt::format("/proc/{}/status", pid)).value_or("");
  for (const std::string_view line : split(status, '\n')) {
    if (!line.starts_with("NSpid:")) continue;
    const auto number = find_number(line.substr(line.rfind('\t') + 1), 10);
    if (number && *number <= UINT32_MAX) return static_cast<uint32_t>(*number);
  }
  return pid;
}

std::optional<uid_t> read_user(uint32_t pid) {
  const std::string status = read_file(fmt::format("/proc/{}/status", pid)).value_or("");
  for (const std::string_view line : split(status, '\n')) {
    if (!line.starts_with("Uid:")) continue;
    const std::vector<std::string_view> numbers = split(line, '\t');  // real, effective, saved, fs
    if (numbers.size() != 5) break;
    if (const auto user = find_number(numbers[2], 10)) return static_cast<uid_t>(*user);
  }
  return std::nullopt;
}

JitFile open_in_root(const Fd& root, const std::string& path, std::optional<uid_t> user) {
  Fd fd;
  if (root) {
    // Links in the process's file system must not lead into ours.
    open_how how{};
    how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    fd = Fd(static_cast<int>(::syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof how)));
  } else {
    fd = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  }
  if (!fd) return {Fd(), errno == ELOOP ? Trust::refused : Trust::absent};
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return {};
  const bool is_theirs = status.st_uid == 0 || status.st_uid == user.value_or(::geteuid());
  if (!S_ISREG(status.st_mode) || !is_theirs || (status.st_mode & S_IWOTH) != 0)
    return {Fd(), Trust::refused};
  return {std::move(fd), Trust::good};
}

std::string read_from(const Fd& fd, uint64_t offset, uint64_t limit_bytes) {
  std::string content;
  char buffer[1 << 16];
  while (content.size() < limit_bytes) {
    const size_t wanted = std::min<uint64_t>(sizeof buffer, limit_bytes - content.size());
    const ssize_t got = ::pread(fd.get(), buffer, wanted, static_cast<off_t>(offset));
    if (got <= 0) break;
    content.append(buffer, static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
  return content;
}

}  // namespace culprit
