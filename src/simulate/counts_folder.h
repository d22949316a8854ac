#pragma once

// CountsFolder: the folder that counts files are put into, one per process image, named
// PID.N. Says which have ended, so that they are added up and removed while others still run:
// a build of ten thousand short children never has more than a few.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace culprit {

class CountsFolder {
 public:
  /// In memory (/dev/shm) if there is room, else in the folder for temporary files.
  static Result<CountsFolder> make();
  CountsFolder(CountsFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), files_(std::move(other.files_)) {}
  CountsFolder& operator=(CountsFolder&&) = delete;
  ~CountsFolder();

  [[nodiscard]] const std::string& path() const { return path_; }

  struct File {
    std::string path;
    uint32_t pid = 0;
    uint32_t image = 0;  // 0, and one more with each exec
    Fd fd;
  };
  /// Looks for new files. `ended`: those that nobody writes to any more, removed from the
  /// folder and from here; `all`: every one is taken as ended.
  std::vector<File> take_ended(bool all = false);
  /// The others, as of the last look.
  [[nodiscard]] const std::map<std::pair<uint32_t, uint32_t>, File>& living() const {
    return files_;
  }

 private:
  explicit CountsFolder(std::string path) : path_(std::move(path)) {}
  void find_new();

  std::string path_;
  std::map<std::pair<uint32_t, uint32_t>, File> files_;  // by pid and image
};

}  // namespace culprit
