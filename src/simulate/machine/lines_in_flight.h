#pragma once

// LinesInFlight: lines on their way to a core, and what they wait for there: a miss buffer, the
// channels from L2, the shared level and memory, and a set of L1D that takes one after the other.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simulate/machine/cycles.h"
#include "simulate/machine/machine.h"
#include "simulate/machine/outcome.h"
#include "simulate/machine/prefetch.h"

namespace culprit::simulate {

/// A line that was asked for lately.
struct LineFill {
  uint64_t line = 0;  // 0: not known
  Ticks arrives = 0;
  Ticks bandwidth = 0;  // of that, it waited for others
  CycleClass kind = CycleClass::load_l2;
};

/// What lines pass one by one.
struct LineChannel {
  Ticks line = 0;   // that one takes
  Ticks queue = 0;  // full, this is its length
  Ticks free = 0;

  /// Puts lines on the way at `now`; how long one that is asked for at `at` waits for those that
  /// are on it already.
  Ticks pass(Ticks now, Ticks at, uint32_t lines) {
    const Ticks wait = free > at ? free - at : 0;
    free = (free > now ? free : now) + line * lines;
    return wait;
  }
};

/// Whose time it is that a load of a line from there waits.
CycleClass class_of(DataSource source);

class LinesInFlight {
 public:
  explicit LinesInFlight(const MachineModel& machine);

  /// When the last of all lines is there.
  [[nodiscard]] Ticks last_arrives() const { return last_arrives_; }
  [[nodiscard]] bool is_on_its_way(uint64_t address, Ticks now) const {
    const LineFill& fill = fill_of(address);
    return fill.line == line_of(address) && fill.arrives > now;
  }
  /// The last fill of the line at `address`, or of another at its place: compare `line`.
  [[nodiscard]] const LineFill& fill_of(uint64_t address) const {
    return fills_[line_of(address) % fills_.size()];
  }
  [[nodiscard]] uint64_t line_of(uint64_t address) const { return address >> line_shift_; }
  void add(const LineFill& fill);

  /// When a line that is asked for at `at` may enter its set, which is not free for some time then.
  Ticks enter_set(uint64_t address, Ticks at);
  /// When a miss that is ready at `at` gets a buffer, which it keeps for `latency`.
  Ticks take_buffer(Ticks at, Ticks latency);
  /// Puts the lines of an access on their way at `now`; its own is asked for at `at`, maybe later.
  /// Returns how long that one waits.
  Ticks pass(Ticks now, Ticks at, const Outcome& outcome);
  /// Prefetches queue behind the demand line that triggered them, which was asked for at
  /// `asked_at`. Then `lines` is empty.
  void prefetch(PrefetchedLines& lines, Ticks asked_at);

  /// The channels stand from the nearest to the farthest.
  [[nodiscard]] std::span<const LineChannel> channels() const { return channels_; }

 private:
  enum Level : size_t { l2, shared, memory };

  uint32_t line_shift_;
  std::array<LineFill, 64> fills_{};  // by line
  Ticks last_arrives_ = 0;
  std::vector<Ticks> buffers_;  // when each is free: a heap, the first one first
  std::array<LineChannel, 3> channels_{};
  std::vector<Ticks> sets_free_;  // when each set of L1D takes the next line; empty: at once
  Ticks set_takes_;
};

}  // namespace culprit::simulate
