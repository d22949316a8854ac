#include "simulate/counts/process_images.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace culprit::counting {

uint64_t find_pid_namespace() {
  struct stat status{};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

bool OwnImage::open(const std::string& folder) {
  constexpr uint64_t kBytes = image_row_start(kMostImages);
  const int fd = ::open(image_list_path(folder).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  void* mapped = MAP_FAILED;
  if (::ftruncate(fd, static_cast<off_t>(kBytes)) == 0) {
    mapped = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  }
  ::close(fd);
  if (mapped == MAP_FAILED) return false;
  list_ = static_cast<ImageListHeader*>(mapped);
  return true;
}

bool OwnImage::add(std::string_view program) {
  const uint32_t number = list_->rows.fetch_add(1);
  if (number >= kMostImages) {
    row_ = &no_row_;
    return false;
  }
  char* const rows = reinterpret_cast<char*>(list_);
  row_ = reinterpret_cast<ImageRow*>(rows + image_row_start(number));
  number_ = number;
  row_->pid = static_cast<uint32_t>(::getpid());
  row_->pid_namespace = find_pid_namespace();
  const size_t size = std::min(program.size(), sizeof row_->program);
  program.copy(row_->program, size, program.size() - size);
  set_state(ImageState::starting);
  return true;
}

bool OwnImage::add_forked() {
  const std::string program(row_->program, ::strnlen(row_->program, sizeof row_->program));
  return add(program);
}

}  // namespace culprit::counting
