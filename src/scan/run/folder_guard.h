#pragma once

// Works in another folder for a while: paths in keys are as the compiler wrote them, from the
// plan's folder.

#include <cstdlib>
#include <filesystem>
#include <string>
#include <unistd.h>

namespace culprit::scan {

class FolderGuard {
 public:
  /// "": stays where it is.
  explicit FolderGuard(const std::string& folder) {
    std::error_code ignored;
    before_ = std::filesystem::current_path(ignored).string();
    if (!folder.empty() && ::chdir(folder.c_str()) != 0) before_.clear();
  }
  ~FolderGuard() {
    if (!before_.empty() && ::chdir(before_.c_str()) != 0) std::abort();
  }
  FolderGuard(const FolderGuard&) = delete;
  FolderGuard& operator=(const FolderGuard&) = delete;

 private:
  std::string before_;
};

}  // namespace culprit::scan
