#pragma once

// Forecast: what a core would save if a class of cost were gone. In sampled stretches of blocks
// the core's events are kept, and then a core runs them again: once as it is, and once without
// each class, on the same outcomes. What hid behind the cost shows in the second time:
//
//     loop: load (memory, 200 cycles), chain of additions (150 cycles), side by side
//     as it is 200        load latency has 200 of 200 cycles
//     without memory 150  a repair saves 50
//
// The time of each instruction in each of them is kept; sums over a place tell what it would save
// there: 1 - without / as it is.

#include <array>
#include <cstdint>

#include "simulate/machine/core.h"
#include "simulate/machine/core_trace.h"

namespace culprit::simulate {

/// What is gone, or slower, when a stretch runs again.
enum class Change : uint8_t {
  nothing,
  load_latency,  // all that loads wait for beyond an L1 hit, but for bandwidth
  bandwidth,     // of all channels, and the limit of misses under way
  data,          // both: where only both together help, they overlap (a gather)
  l2,            // latency of loads from there
  l3,
  memory,
  translation,
  sharing,     // lines out of other cores, and taken from them
  forwarding,  // refused forwarding, aliases
  misprediction,
  starvation,
  stores,   // of loads' lines nothing changes
  divider,  // divisions become multiplications
  chains,   // broken into four: latencies are a quarter
  ports,
  calls,
  microcode,
  // How much time depends on what is known least, or hidden by little:
  slow_latency,    // of L3, memory and translation: twice as long
  slow_bandwidth,  // half as much, of memory and what cores share
};
inline constexpr int kReplays = 20;

/// What all replays of one instruction took, in all stretches.
struct ReplayTicks {
  std::array<Ticks, kReplays> ticks{};
};

class Forecaster {
 public:
  Forecaster(const MachineModel& machine, ReplayTicks* sites) : machine_(machine), sites_(sites) {}

  /// Works as IntervalCore's; call it between two blocks.
  void set_sites(ReplayTicks* sites) { sites_ = sites; }

  /// Call it before each begin_block() of the core. Stretches are drawn by number of blocks.
  void step(IntervalCore& core) {
    if (--left_ == 0) [[unlikely]]
      turn(core);
  }
  /// Ends a stretch early, between two blocks.
  void stop(IntervalCore& core);

 private:
  void turn(IntervalCore& core);
  uint64_t draw_pause();

  MachineModel machine_;
  ReplayTicks* sites_;
  CoreTrace trace_;  // of the stretch under way
  bool is_tracing_ = false;
  uint64_t left_ = kFirstPause;
  uint64_t random_ = 0x9e37'79b9'7f4a'7c15;

  static constexpr uint64_t kFirstPause = 512;
  static constexpr uint64_t kStretch = 1024;  // blocks
  static constexpr uint64_t kPause = 100 * kStretch;
};

}  // namespace culprit::simulate
