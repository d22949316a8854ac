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
#include "recording/shared_folder.h"

namespace culprit {

class CountsFolder {
 public:
  /// In memory (/dev/shm) if there is room, else in the folder for temporary files.
  static Result<CountsFolder> make();

  [[nodiscard]] const std::string& path() const { return folder_.path(); }

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
  explicit CountsFolder(SharedFolder folder) : folder_(std::move(folder)) {}
  void find_new();

  SharedFolder folder_;
  std::map<std::pair<uint32_t, uint32_t>, File> files_;  // by pid and image
};

}  // namespace culprit
