#pragma once

// CountedThread: all that counting keeps of one thread of the program. Only the thread itself
// writes to it while it runs.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "simulate/counting/call_stack.h"
#include "simulate/counting/counted_constructs.h"
#include "simulate/counting/counted_targets.h"
#include "simulate/counting/heap_calls.h"
#include "simulate/counting/object_sites.h"
#include "simulate/counting/region.h"
#include "simulate/counting/stack_frames.h"
#include "simulate/counting/system_calls.h"
#include "simulate/counting/translation.h"
#include "simulate/counting/windows.h"
#include "simulate/counts/counts_writer.h"
#include "simulate/machine/branch.h"
#include "simulate/machine/core.h"
#include "simulate/machine/forecast.h"
#include "simulate/machine/hierarchy.h"

namespace culprit::counting {

/// One access as the engine shows it; a wide one may be shown in parts.
struct AccessShape {
  uint32_t bytes = 1;
  bool is_store = false;
};

/// The latest rep movs or rep stos (rounds.h).
struct StringRounds {
  uint64_t load = 0;  // where the last round has loaded, and stored
  uint64_t store = 0;
  uint64_t count = 0;    // its register, before the block under way
  bool goes_on = false;  // the block under way is not its first round
};

/// What a thread counts in a construct, or waiting there; and while it is elsewhere: of its part.
struct RegionPart {
  CoreCounts shared;
  CountedTargets targets;
};

/// What a thread needs of a sample of sets with locality. Until it begins all sets are followed,
/// and accesses are looked at in so far as they bring that about. From then on most accesses are
/// left out, and a few, chosen at random, tell of all of them: their groups of sets, their data
/// objects.
struct SampledThread {
  static constexpr uint32_t kLookEvery = 1 << 14;  // accesses
  uint32_t until_look = kLookEvery;
  bool has_begun = false;            // as far as the thread has noticed
  uint64_t followed = ~uint64_t{0};  // SampledLines::find_followed(), from then on

  /// False: an access of so many bytes, or the part of it that an engine shows, is not in a set
  /// that is followed.
  [[nodiscard]] bool may_follow(uint64_t address, uint32_t bytes, uint32_t line_shift) const {
    constexpr uint32_t kMostAtOnce = 16;  // that engines show: no line is shorter
    const uint64_t end = address + std::min(bytes, kMostAtOnce) - 1;
    const uint64_t first = followed >> (address >> line_shift & 63);
    const uint64_t last = followed >> (end >> line_shift & 63);
    return ((first | last) & 1) != 0;
  }
};

struct CountedThread {
  /// One in so many accesses to data objects, chosen at random, has its place in its block looked
  /// at.
  static constexpr uint32_t kOffsetPeriod = 64;

  CoreCounts shared;   // where it counts now: its own part, or that of the region that it is in
  CoreCounts own;      // of the thread as a whole
  uint8_t number = 0;  // in the order of their beginning; counts_file::kThreadsApart: a later one
  // What the machine model has of this thread, if there is a model:
  simulate::CoreState* memory = nullptr;
  std::unique_ptr<simulate::BranchPredictor> predictor;
  std::unique_ptr<simulate::IntervalCore> clock;     // if cycles are modelled
  std::unique_ptr<simulate::Forecaster> forecaster;  // with the clock
  simulate::Ticks ticks_before = 0;                  // of its clock, in a parent process
  const BlockFacts* previous = nullptr;              // never null once the thread is set up

  // The access before, to see parts of one wide access.
  uint64_t access_block = 0;  // by the instructions before its end
  uint64_t access_begin = 0;
  uint64_t access_end = 0;
  uint32_t access_site = 0;
  bool access_is_store = false;

  /// Whether an access is a further part of the one before it.
  bool goes_on(uint32_t site, uint64_t address, AccessShape shape) {
    const uint64_t block = shared.header->instructions.load(std::memory_order_relaxed);
    const bool same = site == access_site && address == access_end && access_block == block &&
                      shape.is_store == access_is_store;
    access_site = site;
    if (!same) access_begin = address;
    access_end = address + shape.bytes;
    access_block = block;
    access_is_store = shape.is_store;
    return same;
  }
  /// Where the access of the instruction began that has come to `address`: engines show wide ones
  /// part by part.
  [[nodiscard]] uint64_t begin_of_access(uint32_t site, uint64_t address) const {
    const bool is_it = site == access_site && access_begin <= address && address < access_end;
    return is_it ? access_begin : address;
  }

  CountsWriter* writer = nullptr;  // of what it counts
  StringRounds rounds;

  CountedTargets targets;
  ThreadWindow window;      // if only windows are modelled
  SampledThread sampled{};  // with a sample of sets and locality

  // If data objects are told apart:
  std::unique_ptr<ObjectSites> object_sites;
  HeapCalls heap;
  /// What an allocator's own memory is called for its callers of late: by the two innermost calls.
  struct AllocatorCaller {
    uint32_t inner = 0;
    uint32_t outer = 0;
    objects::ObjectNumber object = objects::kNothing;
  };
  std::array<AllocatorCaller, 64> allocator_callers{};
  uint32_t until_offset = kOffsetPeriod;  // accesses, until one's place in its block is looked at
  uint32_t random = 1;

  /// Which access comes next, of one in `period`: loops have periods, too, so it is half of that to
  /// one and a half.
  uint32_t draw_gap(uint32_t period) {
    random = random * 1'664'525 + 1'013'904'223;  // Knuth's
    return period / 2 + (random >> 16) % (period + 1);
  }
  SystemCall system_call;                 // under way
  std::string mapped_file{};              // that it maps
  bool has_stack = false;                 // it is known where its stack is, if that is a mapping
  std::shared_ptr<StackFrames> frames{};  // then
  std::shared_ptr<const StackFrames> foreign{};  // of the latest other thread in whose stack it was
  std::vector<objects::DataObjects::ThreadRange> ranges{};  // that it has marked for itself
  uint32_t ranges_version = 0;

  RegisterFile registers = nullptr;  // once the engine has told where

  // If regions are told apart:
  ThreadConstructs constructs;
  CountedConstructs::Changes construct_changes;
  std::unordered_map<uint64_t, RegionPart> region_parts;  // by place; 0: its own
  uint64_t region_part = 0;                               // that it counts into
  uint64_t instructions_elsewhere = 0;                    // in the other parts

  // If these, or only a part is simulated:
  CallStack calls;
  const BlockFacts* latest = nullptr;  // the block before, counted or not; as `previous`
  RegionWatch region;
  uint64_t not_added = 0;  // to all that is skipped: what this thread has run since it last did

  uint64_t system_call_start_ns = 0;  // 0: it is in none
  uint64_t huge_mapping_bytes = 0;    // of its mmap under way, if the pages are huge ones
  uint64_t lines_taken = 0;           // from other cores, up to its last turn
  uint64_t instructions_said = 0;     // of its part's, what is in the list of process images

  /// Executions of a string instruction that only go on with it.
  void note_repeats(uint32_t site, uint64_t rounds) {
    shared.counts[site].value[static_cast<size_t>(counts_file::Counter::repeats)] += rounds;
    auto& repeats = shared.header->repeats;
    repeats.store(repeats.load(std::memory_order_relaxed) + rounds, std::memory_order_relaxed);
  }

  /// All that it has run.
  [[nodiscard]] uint64_t instructions() const {
    return instructions_elsewhere + shared.header->instructions.load(std::memory_order_relaxed);
  }

  /// Who this is, for the kernel. By the thread itself.
  void note_task();
  /// What another thread of the process is called now, if it is still there.
  void note_name();

  /// The thread's time, by which threads take turns [ticks]. Without cycles, or outside the
  /// region, an instruction takes one cycle.
  [[nodiscard]] uint64_t now() const {
    const uint64_t outside = own.header->outside_instructions * simulate::kTicksPerCycle;
    if (clock) return clock->now() + outside;
    return instructions() * simulate::kTicksPerCycle + outside;
  }

  /// Whether it took lines from other cores since it was asked last.
  bool has_taken_lines() {
    if (memory == nullptr) return false;
    const uint64_t before = std::exchange(lines_taken, memory->traffic.taken_from_others);
    return lines_taken != before;
  }
};

}  // namespace culprit::counting
