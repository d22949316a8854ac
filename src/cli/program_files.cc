#include "cli/program_files.h"

#include <unistd.h>

#include "base/file.h"

namespace culprit {

std::string find_shim() {
  char self[4096];
  const ssize_t length = ::readlink("/proc/self/exe", self, sizeof self);
  if (length <= 0) return {};
  std::string folder(self, static_cast<size_t>(length));
  folder.erase(folder.rfind('/') + 1);
  for (const char* place : {"libculprit_timer.so", "../lib/culprit/libculprit_timer.so"}) {
    if (file_exists(folder + place)) return folder + place;
  }
  return {};
}

}  // namespace culprit
