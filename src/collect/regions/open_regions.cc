#include "collect/regions/open_regions.h"

#include <algorithm>
#include <set>

namespace culprit {
namespace {

/// As the shim ends constructs and waits (guest/constructs.c), at one moment.
class OpenEnder {
 public:
  OpenEnder(const RegionProcess& process, uint64_t end_ticks, RegionThread& thread)
      : is_forked_((process.flags & CULPRIT_IS_FORKED) != 0),
        start_ticks_(process.start_ticks),
        end_ticks_(end_ticks),
        thread_(thread) {}

  void add() {
    if (thread_.asked) add_wait(*thread_.asked, true);
    add_frames();
    if (thread_.barrier) add_barrier(*thread_.barrier);
    for (const RegionOpen& lock : thread_.held) add_time(lock, ticks_of(lock), true);
  }

 private:
  [[nodiscard]] bool is_inherited(const RegionOpen& open) const {
    return is_forked_ && open.begin <= start_ticks_;
  }
  [[nodiscard]] uint64_t ticks_of(const RegionOpen& open) const {
    return end_ticks_ > open.begin ? end_ticks_ - open.begin : 0;
  }
  /// Without tasks that ran meanwhile.
  [[nodiscard]] uint64_t own_ticks_of(const RegionOpen& open) const {
    const uint64_t ticks = ticks_of(open);
    return ticks > open.tasks ? ticks - open.tasks : 0;
  }

  RegionCounter& counter_of(uint32_t path) {
    const auto at = std::ranges::lower_bound(thread_.counters, path, {}, &RegionCounter::path);
    if (at != thread_.counters.end() && at->path == path) return *at;
    return *thread_.counters.insert(at, RegionCounter{.path = path});
  }

  void add_time(const RegionOpen& open, uint64_t ticks, bool is_execution) {
    if (open.path == 0) return;
    if (is_inherited(open)) {
      ++thread_.still_open;
      return;
    }
    RegionCounter& counter = counter_of(open.path);
    counter.ticks[open.part] += ticks;
    counter.unfinished_ticks += ticks;
    if (!is_execution) return;
    ++counter.executions;
    ++counter.unfinished;
  }

  void add_wait(const RegionOpen& wait, bool is_execution) {
    add_time(wait, own_ticks_of(wait), is_execution);
  }

  /// Tasks that ran at a region's end are in its body.
  void add_barrier(const RegionOpen& barrier) {
    add_wait(barrier, false);
    if (barrier.path == 0 || is_inherited(barrier)) return;
    RegionCounter& counter = counter_of(barrier.path);
    const uint64_t tasks = std::min(barrier.tasks, ticks_of(barrier));
    counter.ticks[CULPRIT_PART_BODY] += tasks;
    counter.inner_tasks += tasks;
    counter.unfinished_ticks += tasks;
  }

  void add_frames();

  bool is_forked_;
  uint64_t start_ticks_;
  uint64_t end_ticks_;
  RegionThread& thread_;
};

/// From the innermost on: a task that ends has run in what is around it.
void OpenEnder::add_frames() {
  std::vector<RegionOpen>& frames = thread_.open;
  std::set<uint32_t> around;  // paths of constructs, of all frames
  std::vector<bool> is_outermost;
  for (const RegionOpen& frame : frames) {
    is_outermost.push_back(!frame.is_wait && around.insert(frame.path).second);
  }
  for (size_t i = frames.size(); i > 0; --i) {
    const RegionOpen& frame = frames[i - 1];
    RegionOpen* const outer = i > 1 ? &frames[i - 2] : nullptr;
    const bool is_task = !frame.is_wait && frame.kind == CULPRIT_KIND_TASK;
    if (frame.is_wait) {
      add_wait(frame, frame.part == CULPRIT_PART_WAIT);
      const bool is_in_task = outer != nullptr && outer->kind == CULPRIT_KIND_TASK;
      if (outer != nullptr && !is_in_task && outer->path != 0 && !is_inherited(*outer)) {
        counter_of(outer->path).inner_tasks += frame.tasks;
      }
    } else if (is_task) {
      add_time(frame, own_ticks_of(frame), true);
      const auto below = frames.begin() + static_cast<std::ptrdiff_t>(i) - 1;
      const bool is_in_task = std::any_of(frames.begin(), below, [](const RegionOpen& one) {
        return !one.is_wait && one.kind == CULPRIT_KIND_TASK;
      });
      if (thread_.barrier && !is_in_task) thread_.barrier->tasks += ticks_of(frame);
    } else {
      // Of a construct inside itself the outer one has the time.
      add_time(frame, is_outermost[i - 1] ? ticks_of(frame) : 0, true);
    }
    if (outer != nullptr) outer->tasks += is_task ? ticks_of(frame) : frame.tasks;
  }
}

}  // namespace

void add_open_regions(RegionProcess& process, uint64_t end_ticks) {
  for (RegionThread& thread : process.threads) OpenEnder(process, end_ticks, thread).add();
}

}  // namespace culprit
