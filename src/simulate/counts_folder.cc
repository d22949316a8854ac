#include "simulate/counts_folder.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <utility>

#include "simulate/counts/counts_file.h"

namespace culprit {

using counting::ImageState;

namespace {

/// A mapped file that cannot grow kills its process: containers often have 64 MB here.
constexpr uint64_t kRoomInMemoryBytes = uint64_t{256} << 20;

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

/// Whether the process of this /proc/PID/status has ended, but was not waited for. (The first
/// thread of a process may have ended before others.)
bool is_zombie(const std::string& status) {
  const auto field = [&](const char* name) {
    const size_t at = status.find(name);
    return at == std::string::npos ? nullptr : &status[at + std::strlen(name)];
  };
  const char* const state = field("\nState:\t");
  const char* const threads = field("\nThreads:\t");
  return state != nullptr && *state == 'Z' && threads != nullptr && std::atoi(threads) <= 1;
}

bool has_ended_here(uint32_t pid) {
  if (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return true;
  const Result<std::string> status = read_file("/proc/" + std::to_string(pid) + "/status", 1 << 16);
  return status && is_zombie(*status);
}

/// What the innermost namespace calls each process that is in another than ours.
std::set<uint32_t> read_inner_pids() {
  std::set<uint32_t> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir("/proc"), ::closedir);
  if (!entries) return pids;
  while (const dirent* entry = ::readdir(entries.get())) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    const Result<std::string> status =
        read_file(std::string("/proc/") + entry->d_name + "/status", 1 << 16);
    if (!status || is_zombie(*status)) continue;
    const size_t start = status->find("\nNSpid:");
    if (start == std::string::npos) continue;
    const std::string line = status->substr(start + 7, status->find('\n', start + 1) - start - 7);
    const size_t last = line.rfind('\t');  // one stands before each number
    if (last == 0 || last == std::string::npos) continue;
    pids.insert(static_cast<uint32_t>(std::strtoul(&line[last + 1], nullptr, 10)));
  }
  return pids;
}

}  // namespace

Result<CountsFolder> CountsFolder::make() {
  ASSIGN_OR_RETURN(SharedFolder folder, SharedFolder::make(kRoomInMemoryBytes));
  const std::string path = counting::image_list_path(folder.path());
  Fd list(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!list) return errno_error("cannot make '" + path + "'", errno);
  return CountsFolder(std::move(folder), std::move(list));
}

/// Where it cannot be written it stays as it was.
void CountsFolder::set_window_share(uint32_t per_million) const {
  constexpr off_t kAt = offsetof(counting::ImageListHeader, window_share);
  std::ignore = ::pwrite(list_.get(), &per_million, sizeof per_million, kAt);
}

uint32_t CountsFolder::count_images() const {
  uint32_t rows = 0;
  static_assert(offsetof(counting::ImageListHeader, rows) == 0);
  return ::pread(list_.get(), &rows, sizeof rows, 0) == sizeof rows ? rows : 0;
}

std::optional<ListedImage> CountsFolder::read_image(uint32_t number) const {
  if (number >= counting::kMostImages) return std::nullopt;
  counting::ImageRow row{};
  const auto start = static_cast<off_t>(counting::image_row_start(number));
  if (::pread(list_.get(), static_cast<void*>(&row), sizeof row, start) != sizeof row) {
    return std::nullopt;
  }
  return ListedImage{row.state, row.pid, row.pid_namespace, row.instructions,
                     std::string(row.program, ::strnlen(row.program, sizeof row.program))};
}

/// False: it may still come.
bool CountsFolder::find_file(uint32_t number) {
  const std::optional<ListedImage> image = read_image(number);
  if (!image) return true;
  if (image->state == ImageState::adding) return false;
  processes_[number] = {image->pid, image->pid_namespace};
  uint32_t& newest = newest_[processes_[number]];
  newest = std::max(newest, number);
  if (image->state == ImageState::starting) return false;
  std::string path = this->path() + "/" + std::to_string(image->pid) + "." + std::to_string(number);
  if (Fd fd = open_finished(path)) {
    living_.emplace(number, File{std::move(path), image->pid, number, std::move(fd)});
  }
  return true;
}

void CountsFolder::find_new() {
  std::erase_if(without_file_, [&](uint32_t number) { return find_file(number); });
  const uint32_t rows = std::min(count_images(), counting::kMostImages);
  while (processes_.size() < rows) {
    const auto number = static_cast<uint32_t>(processes_.size());
    processes_.emplace_back();
    if (!find_file(number)) without_file_.push_back(number);
  }
}

bool CountsFolder::is_gone(const Process& process) const {
  if (process.pid == 0 || process.pid_namespace == 0 || own_namespace_ == 0) return false;
  if (process.pid_namespace == own_namespace_) return has_ended_here(process.pid);
  if (inner_pids_.empty()) inner_pids_ = read_inner_pids();
  return !inner_pids_.contains(process.pid);
}

bool CountsFolder::has_newer(uint32_t number) const {
  if (number >= processes_.size() || processes_[number].pid_namespace == 0) return false;
  return newest_.at(processes_[number]) > number;
}

bool CountsFolder::has_ended(uint32_t number) const {
  if (number >= processes_.size()) return false;
  return has_newer(number) || is_gone(processes_[number]);
}

std::vector<CountsFolder::File> CountsFolder::take_ended(bool all) {
  inner_pids_.clear();
  find_new();
  std::vector<File> ended;
  for (auto at = living_.begin(); at != living_.end();) {
    if (!all && !has_ended(at->first)) {
      ++at;
      continue;
    }
    ::unlink(at->second.path.c_str());
    ended.push_back(std::move(at->second));
    at = living_.erase(at);
  }
  return ended;
}

}  // namespace culprit
