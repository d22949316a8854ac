#include "simulate/counts_folder.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include "simulate/counting/counts_file.h"

namespace culprit {
namespace {

/// A mapped file that cannot grow kills its process: containers often have 64 MB here.
constexpr uint64_t kRoomInMemoryBytes = uint64_t{256} << 20;

bool is_gone(uint32_t pid) {
  return ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

/// Opens it, if it is a plain file that the plugin has finished making.
Fd open_finished(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status{};
  uint64_t magic = 0;
  const bool is_ready = fd && ::fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                        ::pread(fd.get(), &magic, sizeof magic, 0) == sizeof magic &&
                        magic == counts_file::kMagic;
  return is_ready ? std::move(fd) : Fd();
}

}  // namespace

Result<CountsFolder> CountsFolder::make() {
  ASSIGN_OR_RETURN(SharedFolder folder, SharedFolder::make(kRoomInMemoryBytes));
  return CountsFolder(std::move(folder));
}

void CountsFolder::find_new() {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(path().c_str()), ::closedir);
  if (!entries) return;
  while (const dirent* entry = ::readdir(entries.get())) {
    uint32_t pid = 0;
    uint32_t image = 0;
    char rest = 0;
    if (std::sscanf(entry->d_name, "%u.%u%c", &pid, &image, &rest) != 2) continue;
    if (files_.contains({pid, image})) continue;
    std::string path = this->path() + "/" + entry->d_name;
    if (Fd fd = open_finished(path)) {
      files_.emplace(std::pair(pid, image), File{std::move(path), pid, image, std::move(fd)});
    }
  }
}

std::vector<CountsFolder::File> CountsFolder::take_ended(bool all) {
  find_new();
  std::vector<File> ended;
  for (auto at = files_.begin(); at != files_.end();) {
    const auto next = std::next(at);
    const bool has_executed = next != files_.end() && next->first.first == at->first.first;
    if (!all && !has_executed && !is_gone(at->first.first)) {
      at = next;
      continue;
    }
    ::unlink(at->second.path.c_str());
    ended.push_back(std::move(at->second));
    at = files_.erase(at);
  }
  return ended;
}

}  // namespace culprit
