#pragma once

// Where cycles went: the classes of the hierarchical cycle accounting (level 3, with load
// latency by source), and what a block of instructions takes to dispatch when nothing waits.
//
//   uops / width        base        | the largest is the time of a block; what it has above
//   busiest port        port        | uops / width goes to the class of that limit
//   divider             latency     |
//   locked accesses     serialization
//   fetch and decode    starvation  |
//   + microcode, + serializing instructions
//
// What instructions wait for (operands, misses) is found out as they run: core.h.
// Time is counted in ticks of 1/840 cycle: 840 is divisible by all widths up to 8, so shares of
// a cycle are whole numbers, and parts add up to their sum exactly.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "code/instruction_costs.h"
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
  load_forward_refused,
  load_alias,
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
inline constexpr int kCycleClasses = 18;
inline constexpr int kStalledClasses = 13;
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

/// Where results go that are not kept, as if it were a register.
inline constexpr Register kNowhere = kMostRegisters;

/// Time of one instruction, beside what it takes to dispatch it.
struct Busy {
  // Ticks during which a condition held that this instruction met. They overlap, and are no
  // part of the clock.
  Ticks miss_buffers_full = 0;  // its misses waited for a free one
  Ticks store_queue_full = 0;   // dispatch waited for it to leave the store queue
  Ticks scheduler_empty = 0;    // dispatch had nothing: its fetch misses and mispredictions
  Ticks wrong_path = 0;         // from its dispatch as a mispredicted branch to its execution

  void add(const Busy& other);
};
/// All of them, where they are told by number.
inline constexpr Ticks Busy::* kBusyValues[] = {&Busy::miss_buffers_full, &Busy::store_queue_full,
                                                &Busy::scheduler_empty, &Busy::wrong_path};
static_assert(sizeof(Busy) == std::size(kBusyValues) * sizeof(Ticks));

struct SiteTicks {
  CycleParts stalls;  // by which the clock moved, beside blocks
  Busy busy;
};

/// How much of a Step there is to look at. Most instructions are of the first two kinds.
enum class StepKind : uint8_t {
  simple,       // two reads and two writes at most, no memory
  simple_load,  // two address registers, one read and two writes at most
  other,
};

/// An instruction as IntervalCore runs it.
struct Step {
  uint32_t dispatched = 0;  // ticks after the block's first uop could be
  uint32_t latency = 0;     // ticks
  uint32_t site = 0;
  uint16_t uops = 0;   // of the block, up to and with this instruction
  uint16_t loads = 0;  // the same
  std::array<Register, 4> reads{};
  std::array<Register, 3> addresses{};
  std::array<Register, 3> writes{};
  Register updates = kNowhere;
  bool is_load = false;
  bool divides = false;
  bool is_microcode = false;
  bool is_exclusive = false;  // locked: nothing passes it while it waits for its line
  bool renames = false;       // a general register's load, which may be of a renamed slot
  StepKind kind = StepKind::other;
};

/// What an instruction takes in its block beyond the width's time, by class.
struct StaticCost {
  uint32_t ticks = 0;
  uint16_t step = 0;
  CycleClass kind = CycleClass::base;
};

/// A block's cost, worked out once per translation.
struct BlockCycles {
  uint32_t uops = 0;
  uint32_t loads = 0;
  Ticks total = 0;
  std::vector<CycleParts> instructions;  // as the instructions; they sum to `total`. Not needed to
                                         // run the block
  std::vector<StaticCost> costs;         // of them, what is not base
  std::vector<Step> steps;               // as the instructions; `site` is for the caller to set
};

/// Cycles that dispatching one execution of a block takes, by class and instruction, and its
/// steps.
/// Of the base, call_cycles per call are call overhead, as far as there is base; so is that of
/// returns and of what saves and restores registers around them.
/// Units:  costs [cycles per execution] -> [ticks per execution]
/// Shape:  one entry per instruction, in their order; at least one instruction
/// Source: S. Eyerman et al., A Mechanistic Performance Model for Superscalar Out-of-Order
///         Processors, ACM TOCS 27:2 (2009), section 3: a balanced core dispatches at its
///         width between miss events, or at the rate of its units
BlockCycles compute_block_cycles(std::span<const InstructionCosts> instructions,
                                 const BlockCosts& block, const CoreSettings& core);

}  // namespace culprit::simulate
