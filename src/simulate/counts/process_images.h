#pragma once

// The list of process images of a simulation: what a process runs from its start, a fork or an exec
// on, until an exec or its end. Each has one row, in a file that all of them map, and from its row
// a number that no other image ever gets: its counts file is PID.NUMBER. (Process ids come again,
// and an exec keeps them.)
//
// An image adds its row before it counts anything, and says in it what it has counted so far at
// each system call. So the host side knows of each image that ran, however it ended, and how much
// there must be in its counts file.
//
//   offset 0                      ImageListHeader
//   sizeof(ImageListHeader)       ImageRow[kMostImages]

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace culprit::counting {

enum class ImageState : uint32_t {
  adding,     // the row is not written yet
  starting,   // it has no counts file yet
  counting,   // there is one
  executing,  // it is about to run another program: from its exec on nothing counts until the new
              // image has a row
  uncounted,  // it runs, and cannot count any more, or has never counted
};

struct ImageRow {
  std::atomic<ImageState> state;
  uint32_t pid;                        // as its namespace numbers it
  uint64_t pid_namespace;              // 0: not known
  std::atomic<uint64_t> instructions;  // counted, up to the latest system call of each thread
  char program[40];                    // the end of its path
};
static_assert(sizeof(ImageRow) == 64);

struct ImageListHeader {
  std::atomic<uint32_t> rows;  // beyond kMostImages: of images for which there was no room
  // Of a million instructions, how many are in windows from each process's next segment on; written
  // by the host side. 0: as many as the options say.
  std::atomic<uint32_t> window_share;
  uint8_t reserved[56];
};
static_assert(sizeof(ImageListHeader) == sizeof(ImageRow));

inline constexpr uint32_t kMostImages = (1 << 22) - 1;
constexpr uint64_t image_row_start(uint32_t number) {
  return sizeof(ImageListHeader) + uint64_t{number} * sizeof(ImageRow);
}

inline std::string image_list_path(const std::string& folder) {
  return folder + "/process-images";
}

/// The pid namespace of the calling process; 0 if it is not known.
uint64_t find_pid_namespace();

/// The row of the image that runs in this process. Nothing of it is this process's alone.
class OwnImage {
 public:
  /// Maps the list of the folder, which is made if there is none.
  /// False: errno says why.
  bool open(const std::string& folder);
  /// Adds a row for what runs now in this process: by the first thread of it. False: there is no
  /// room.
  bool add(std::string_view program);
  /// Adds a row in a forked child, whose program is its parent's.
  bool add_forked();

  [[nodiscard]] uint32_t number() const { return number_; }
  [[nodiscard]] uint32_t window_share() const {
    return list_ == nullptr ? 0 : list_->window_share.load(std::memory_order_relaxed);
  }
  void set_state(ImageState state) { row_->state.store(state, std::memory_order_release); }
  /// Adds to what was counted.
  void add_instructions(uint64_t count) {
    row_->instructions.fetch_add(count, std::memory_order_relaxed);
  }

 private:
  ImageListHeader* list_ = nullptr;  // the rows are behind it
  ImageRow no_row_{};                // for an image that has none
  ImageRow* row_ = &no_row_;
  uint32_t number_ = kMostImages;
};

}  // namespace culprit::counting
