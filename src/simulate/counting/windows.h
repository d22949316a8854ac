#pragma once

// Windows: where the process is in its WindowSchedule, for all its threads: they are in a window
// together. Each thread adds what it has run every kLookEvery instructions, and sees then whether
// the stretch has changed.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "simulate/counting/gap_filter.h"
#include "simulate/counting/window_schedule.h"
#include "simulate/machine/cycles.h"

namespace culprit::counting {

class Windows {
 public:
  /// Instructions of a thread between its looks: so far may a stretch be overrun.
  static constexpr uint64_t kLookEvery = 1024;

  explicit Windows(const WindowOptions& options) : options_(options), schedule_(options) {
    end_.store(schedule_.now().end);
  }

  /// Adds what a thread has run since it last did. `share`: as WindowSchedule::set_share() takes
  /// it. How many of the process are left of the stretch.
  uint64_t add(uint64_t instructions, uint32_t share);
  /// Grows with each stretch.
  [[nodiscard]] uint32_t number() const { return number_.load(std::memory_order_acquire); }
  [[nodiscard]] Stretch stretch() {
    const std::lock_guard lock(mutex_);
    return schedule_.now();
  }
  /// Held while something is written to the windows' file, and around a fork.
  std::mutex& mutex() { return mutex_; }
  /// Begins anew in a forked child.
  void renew();

 private:
  WindowOptions options_;
  std::mutex mutex_;
  WindowSchedule schedule_;
  std::atomic<uint64_t> so_far_{0};  // of all threads
  std::atomic<uint64_t> end_{0};     // of the stretch
  std::atomic<uint32_t> number_{1};
};

/// Where one thread is.
struct ThreadWindow {
  WindowPhase phase = WindowPhase::gap;
  uint32_t core = 0;     // whose part of the counts file it has
  uint64_t look_at = 0;  // in instructions of its part: when it looks again
  uint64_t added = 0;    // likewise: what has been added to the process's
  uint32_t number = 0;   // of the stretch; 0: of none yet
  Stretch stretch{};
  GapFilter filter;
  simulate::Ticks ticks_before = 0;   // of its clock, when its measuring began
  std::vector<uint64_t> runs_before;  // likewise, of blocks
};

}  // namespace culprit::counting
