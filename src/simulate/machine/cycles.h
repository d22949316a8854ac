#pragma once

// Where cycles went: the classes of the hierarchical cycle accounting (level 3, with load
// latency by source), and what a block of instructions takes when nothing misses.
//
//   uops / width        base        |
//   busiest port        port        | the largest is the time of a block; what it has above
//   dependencies        serial      | uops / width goes to the class of that limit
//   divider             latency     |
//   fetch and decode    starvation  |
//   + microcode, + serializing instructions
//
// Time is counted in ticks of 1/840 cycle: 840 is divisible by all widths up to 8, so shares of
// a cycle are whole numbers, and parts add up to their sum exactly.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "simulate/machine/machine.h"
#include "simulate/machine/outcome.h"

namespace culprit::simulate {

using Ticks = uint64_t;
inline constexpr Ticks kTicksPerCycle = 840;

inline constexpr Ticks to_ticks(double cycles) {
  return static_cast<Ticks>(cycles * static_cast<double>(kTicksPerCycle) + 0.5);
}
inline constexpr double to_cycles(Ticks ticks) {
  return static_cast<double>(ticks) / static_cast<double>(kTicksPerCycle);
}

enum class CycleClass : uint8_t {
  // stalled
  load_l2,
  load_l3,
  load_other_core_clean,
  load_other_core_modified,
  load_memory,
  load_translation,
  bandwidth_saturation,
  instruction_starvation,
  instruction_latency,
  store_saturation,
  branch_misprediction,
  // unstalled
  port_saturation,
  call_overhead,
  serialization,
  microcode,
  base,
};
inline constexpr int kCycleClasses = 16;
inline constexpr int kStalledClasses = 11;
inline constexpr bool is_stalled(CycleClass kind) {
  return static_cast<int>(kind) < kStalledClasses;
}

struct CycleParts {
  std::array<Ticks, kCycleClasses> ticks{};

  Ticks& operator[](CycleClass kind) { return ticks[static_cast<size_t>(kind)]; }
  Ticks operator[](CycleClass kind) const { return ticks[static_cast<size_t>(kind)]; }
  void add(const CycleParts& other);
  [[nodiscard]] Ticks total() const;
  [[nodiscard]] Ticks stalled() const;
};

/// What one instruction costs by itself (from a scheduling model).
struct InstructionCosts {
  uint32_t uops = 1;  // without those of the microcode sequencer
  uint32_t loads = 0;
  double divider_cycles = 0;    // it keeps the divider busy
  double microcode_cycles = 0;  // it is sent by the microcode sequencer
  double serialize_cycles = 0;  // it waits until all before it is done (cpuid, lfence)
  double port_cycles = 0;       // on the block's busiest port
  double chain_cycles = 0;      // its latency, if it is on the block's longest chain
  bool is_call = false;
};

/// What a block costs as a whole, each limit by itself, in cycles per execution.
struct BlockCosts {
  double port_cycles = 0;   // of the busiest port
  double chain_cycles = 0;  // of the longest chain that one execution adds (loop-carried), all
                            // loads in it as L1 hits
  double fetch_cycles = 0;  // to fetch and decode it out of L1I
};

/// A block's cost, worked out once per translation.
struct BlockCycles {
  uint32_t uops = 0;
  uint32_t loads = 0;
  Ticks total = 0;
  std::vector<CycleParts> instructions;  // as the instructions; they sum to `total`
};

/// Cycles of one execution of a block in which nothing misses, by class and instruction.
/// Of the base, call_cycles per call are call overhead, as far as there is base.
/// Units:  costs [cycles per execution] -> [ticks per execution]
/// Shape:  one entry per instruction, in their order; at least one instruction
/// Source: S. Eyerman et al., A Mechanistic Performance Model for Superscalar Out-of-Order
///         Processors, ACM TOCS 27:2 (2009), section 3: a balanced core dispatches at its
///         width between miss events, or at the rate of its dependencies and units
BlockCycles compute_block_cycles(std::span<const InstructionCosts> instructions,
                                 const BlockCosts& block, const CoreSettings& core);

}  // namespace culprit::simulate
