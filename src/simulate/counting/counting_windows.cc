// Windows of a Counting (--windows): what a thread does when a stretch of the run ends, and what it
// has measured in a window goes to the windows' file.

#include <algorithm>

#include "simulate/counting/counting.h"
#include "simulate/counts/windows_file.h"

namespace culprit::counting {
namespace {

/// Moves a value into the window's; it is 0 then.
void take_value(uint64_t& value, uint32_t which, uint32_t site, Window& window) {
  if (value != 0) window.values.push_back({site, which, std::exchange(value, 0)});
}

/// Takes all values of a row.
template <class Values>
void take_values(Values& values, uint32_t first, uint32_t site, Window& window) {
  for (uint32_t i = 0; i < std::size(values); ++i) {
    take_value(values[i], first + i, site, window);
  }
}

}  // namespace

uint64_t Windows::add(uint64_t instructions, uint32_t share) {
  const uint64_t now = so_far_.fetch_add(instructions, std::memory_order_relaxed) + instructions;
  if (now >= end_.load(std::memory_order_relaxed)) {
    const std::lock_guard lock(mutex_);
    schedule_.set_share(share);
    while (now >= schedule_.now().end) schedule_.next();
    if (end_.load(std::memory_order_relaxed) != schedule_.now().end) {
      end_.store(schedule_.now().end, std::memory_order_relaxed);
      number_.fetch_add(1, std::memory_order_release);
    }
  }
  const uint64_t end = end_.load(std::memory_order_relaxed);
  return end > now ? end - now : 0;
}

void Windows::renew() {
  schedule_ = WindowSchedule(options_);
  so_far_ = 0;
  end_ = schedule_.now().end;
  ++number_;
}

/// What of the thread's part was measured since the window began: all values that are modelled.
/// They are taken out of the counts file; those that are exact stay there.
void Counting::write_window(CountedThread& thread) {
  const CoreCounts& part = thread.shared;
  const Stretch& stretch = thread.window.stretch;
  Window window{.core = thread.window.core,
                .number = stretch.window,
                .stratum = stretch.stratum,
                .segment = stretch.segment,
                .runs = {},
                .values = {}};
  std::vector<uint32_t> sites;
  const std::vector<uint64_t>& before = thread.window.runs_before;
  const uint32_t blocks = writer_.header().blocks;
  for (uint32_t block = 1; block < blocks; ++block) {
    const uint64_t runs = part.runs[block].runs - (block < before.size() ? before[block] : 0);
    if (runs == 0) continue;
    window.runs.push_back({block, runs});
    const std::span<const uint32_t> of_block = writer_.block_sites(block);
    sites.insert(sites.end(), of_block.begin(), of_block.end());
  }
  std::sort(sites.begin(), sites.end());
  sites.erase(std::unique(sites.begin(), sites.end()), sites.end());
  for (const uint32_t site : sites) {
    auto& counts = part.counts[site].value;
    for (uint32_t i = 0; i < counts_file::kCounters; ++i) {
      if (!counts_file::is_of_whole_run(i)) take_value(counts[i], i, site, window);
    }
    if (!model_.cycles) continue;
    take_values(part.ticks[site].stalls.ticks, kStallsInWindow, site, window);
    for (uint32_t i = 0; i < std::size(simulate::kBusyValues); ++i) {
      take_value(part.ticks[site].busy.*simulate::kBusyValues[i], kBusyInWindow + i, site, window);
    }
    take_values(part.replays[site].ticks, kReplaysInWindow, site, window);
  }
  const std::lock_guard lock(windows_->mutex());
  if (!append_window(windows_file_path(writer_.path()), window)) {
    ++writer_.header().lost_windows;
  }
}

void Counting::leave_window(CountedThread& thread) {
  if (thread.window.phase != WindowPhase::measured) return;
  if (thread.clock) {
    thread.clock->end_block();
    thread.forecaster->stop(*thread.clock);
    thread.shared.header->ticks = thread.clock->now() - thread.ticks_before;
    const auto ticks = static_cast<double>(thread.clock->now() - thread.window.ticks_before);
    const Stretch& stretch = thread.window.stretch;
    writer_.header().estimated_ticks += static_cast<uint64_t>(
        ticks * static_cast<double>(stretch.segment) / static_cast<double>(stretch.measured));
  }
  write_window(thread);
  thread.shared.header->is_beginning = 0;
  thread.window.phase = WindowPhase::gap;
}

/// Looks where the run is, and does what follows; the next time at the end of the stretch, or
/// some instructions on. Between two blocks.
void Counting::look_at_window(CountedThread& thread) {
  ThreadWindow& window = thread.window;
  const uint64_t own = thread.shared.header->instructions.load(std::memory_order_relaxed);
  const uint64_t left =
      windows_->add(own - std::exchange(window.added, own), image_.window_share());
  window.look_at = own + std::min(std::max<uint64_t>(left, 1), Windows::kLookEvery);
  if (window.number == windows_->number()) return;
  window.number = windows_->number();
  leave_window(thread);
  window.stretch = windows_->stretch();
  window.phase = window.stretch.phase;
  if (window.phase == WindowPhase::gap) window.filter.forget();
  if (window.phase != WindowPhase::measured) return;
  const uint32_t blocks = writer_.header().blocks;
  window.runs_before.resize(blocks);
  for (uint32_t block = 0; block < blocks; ++block) {
    window.runs_before[block] = thread.shared.runs[block].runs;
  }
  if (thread.clock) window.ticks_before = thread.clock->now();
  thread.shared.header->is_beginning = window.stretch.window == 0 ? 1 : 0;
}

}  // namespace culprit::counting
