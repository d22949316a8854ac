#pragma once

// CountsFolder: the folder that counts files are put into, with the list of the process images that
// they are of (counts/process_images.h). Says which have ended, so that they are added up and
// removed while others still run: a build of ten thousand short children never has more than a few.
//
// An image has ended when its process has, or when its process runs another image, which has a row
// of its own in the list. What cannot be decided is taken as running: its file is read at the end.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "recording/shared_folder.h"
#include "simulate/counts/process_images.h"

namespace culprit {

/// A row of the list, as it was when it was read.
struct ListedImage {
  counting::ImageState state = counting::ImageState::adding;
  uint32_t pid = 0;
  uint64_t pid_namespace = 0;  // 0: not known
  uint64_t instructions = 0;   // that it has counted, at least
  std::string program;
};

class CountsFolder {
 public:
  /// Makes it in memory (/dev/shm) if there is room, else in the folder for temporary files.
  static Result<CountsFolder> make();

  [[nodiscard]] const std::string& path() const { return folder_.path(); }

  struct File {
    std::string path;
    uint32_t pid = 0;
    uint32_t image = 0;  // its number in the list
    Fd fd;
  };
  /// Looks for new files. `ended`: those that nobody writes to any more, removed from the
  /// folder and from here; `all`: every one is taken as ended.
  std::vector<File> take_ended(bool all = false);
  /// The others, by number, as of the last look.
  [[nodiscard]] const std::map<uint32_t, File>& living() const { return living_; }

  /// Says to all processes how much is in windows from now on [per million].
  void set_window_share(uint32_t per_million) const;
  /// How many images there have been.
  [[nodiscard]] uint32_t count_images() const;
  /// nullopt: the list is damaged, or there was no room in it for that many.
  [[nodiscard]] std::optional<ListedImage> read_image(uint32_t number) const;
  /// Whether its process runs a newer image, or did before it ended.
  [[nodiscard]] bool has_newer(uint32_t number) const;
  /// Whether it has a newer image, or its process has ended.
  [[nodiscard]] bool has_ended(uint32_t number) const;

 private:
  /// A process for the time that it lives.
  struct Process {
    uint32_t pid = 0;
    uint64_t pid_namespace = 0;
    friend auto operator<=>(const Process&, const Process&) = default;
  };

  CountsFolder(SharedFolder folder, Fd list) : folder_(std::move(folder)), list_(std::move(list)) {}
  void find_new();
  bool find_file(uint32_t number);
  [[nodiscard]] bool is_gone(const Process& process) const;

  SharedFolder folder_;
  Fd list_;
  uint64_t own_namespace_ = counting::find_pid_namespace();
  std::vector<Process> processes_;         // of each image that was seen
  std::vector<uint32_t> without_file_;     // images whose file may still come
  std::map<uint32_t, File> living_;        // by number
  std::map<Process, uint32_t> newest_;     // image of each
  mutable std::set<uint32_t> inner_pids_;  // of other namespaces, as of the last look
};

}  // namespace culprit
