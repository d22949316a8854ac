#include "recording/shared_folder.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <vector>

namespace culprit {
namespace {

// A folder gets the second name when it is locked; one of that name that is not locked is left
// over.
constexpr std::string_view kNewName = "culprit-new-";
constexpr std::string_view kLockedName = "culprit-run-";

bool has_room(const std::string& folder, uint64_t room_bytes) {
  struct statvfs status{};
  return ::statvfs(folder.c_str(), &status) == 0 && status.f_bavail * status.f_frsize >= room_bytes;
}

/// A program that outlives its culprit still writes there: its files begin with its number.
bool is_in_use(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    int pid = 0;
    if (std::sscanf(entry.path().filename().c_str(), "%d.", &pid) == 1 && pid > 0 &&
        (::kill(pid, 0) == 0 || errno == EPERM))
      return true;
  }
  return false;
}

void remove_leftovers(const std::string& parent) {
  std::error_code ignored;
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(parent, ignored)) {
    if (entry.path().filename().string().starts_with(kLockedName)) found.push_back(entry.path());
  }
  for (const std::filesystem::path& path : found) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status{};
    if (!fd || ::fstat(fd.get(), &status) != 0 || status.st_uid != ::geteuid()) continue;
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 || is_in_use(path)) continue;
    std::filesystem::remove_all(path, ignored);
  }
}

}  // namespace

Result<SharedFolder> SharedFolder::make(uint64_t room_bytes) {
  std::error_code ignored;
  const std::string temporary = std::filesystem::temp_directory_path(ignored).string();
  std::vector<std::string> parents = {"/dev/shm"};
  for (const std::string& folder : {temporary, std::string("/tmp")})
    if (!folder.empty() && std::ranges::find(parents, folder) == parents.end())
      parents.push_back(folder);
  for (const std::string& parent : parents) remove_leftovers(parent);
  int reason = ENOSPC;
  for (const std::string& parent : parents) {
    if (!has_room(parent, room_bytes)) continue;
    std::string fresh = parent + "/" + std::string(kNewName) + "XXXXXX";
    if (::mkdtemp(fresh.data()) == nullptr) {
      reason = errno;
      continue;
    }
    Fd lock(::open(fresh.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    std::string path = parent + "/" + std::string(kLockedName) + fresh.substr(fresh.size() - 6);
    if (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0 &&
        ::rename(fresh.c_str(), path.c_str()) == 0)
      return SharedFolder(std::move(path), std::move(lock));
    reason = errno;
    ::rmdir(fresh.c_str());
  }
  return errno_error("cannot make a folder in /dev/shm or '" + temporary +
                         "' for what the program "
                         "tells (" +
                         std::to_string(room_bytes >> 20) + " MB must be free)",
                     reason);
}

SharedFolder::~SharedFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace culprit
