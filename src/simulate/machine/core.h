#pragma once

// IntervalCore: modelled time. A core dispatches at the rate of its blocks (cycles.h) until
// something stops it for an interval:
//
//   operands        an instruction starts when what it reads is ready: a time per register.
//                   Dispatch goes on until the reorder buffer (or load queue) is full behind
//                   one that is not done, then waits for it. So misses inside one window overlap
//                   by themselves; chains of loads, divisions or additions do not.
//   store miss      stores leave in order; dispatch waits when the store queue is full
//   miss buffers    a miss waits while all are taken; lines to and from memory pass one by
//                   one: both waits are bandwidth saturation
//   one set of L1D  takes one line after the other: a longer latency
//   line under way  a load from a line that was asked for already waits for the rest: late
//                   prefetches, and the second load of a line
//   fetch miss      dispatch waits, beyond what the queue of fetched instructions holds
//   misprediction   dispatch waits until the branch has its operands, which is the time of what
//                   they wait for, and until the right path arrives
//
// What instructions wait for has a type each: InstructionWindow, LinesInFlight, StoreQueue and
// StoredValues. This one moves the clock, and says whose the time is.
//
// Every tick that the clock moves belongs to one class and one instruction: the sum over
// blocks (executions x BlockCycles) and over the sites' stalls is now().
//
//     IntervalCore core(machine, sites);            // SiteTicks by site
//     core.end_block();                             // of the block before
//     core.branch(site, misprediction);             // that it ended in, if it was predicted wrong
//     core.fetch(site, outcome);                    // of the next block's code
//     core.begin_block(block);
//     core.load(2, outcome);                        // its third instruction; in program order
//
// Source: T. Karkhanis, J. Smith, A First-Order Superscalar Processor Model, ISCA 2004;
//         S. Eyerman et al., ACM TOCS 27:2 (2009); interval simulation: D. Genbrugge et al.,
//         HPCA 2010. What is left out: docs/decisions/0008.

#include <array>
#include <cstdint>

#include "simulate/machine/branch.h"
#include "simulate/machine/core_trace.h"
#include "simulate/machine/cycles.h"
#include "simulate/machine/instruction_window.h"
#include "simulate/machine/lines_in_flight.h"
#include "simulate/machine/machine.h"
#include "simulate/machine/outcome.h"
#include "simulate/machine/prefetch.h"
#include "simulate/machine/store_queue.h"

namespace culprit::simulate {

class IntervalCore {
 public:
  /// `sites`: as many as there will ever be; stalls are added there.
  IntervalCore(const MachineModel& machine, SiteTicks* sites);

  /// One execution of a block starts; the one before has ended. It must live until it ends.
  void begin_block(const BlockCycles& block);
  /// Stalls are added there from now on; between two blocks.
  void set_sites(SiteTicks* sites) { sites_ = sites; }
  /// What it is told is kept there, too, from now on; nullptr: it is not. Between two blocks.
  void set_trace(CoreTrace* trace) { trace_ = trace; }
  /// All instructions of the block have run, if there is one.
  void end_block();

  /// The block's instruction number `step` has loaded: what is not told was an L1 hit. With its
  /// address (0: unknown), the load has its value from a store that has not left yet, or waits for
  /// it. `is_part`: a further part of a load that is told in parts.
  /// `site`: whose the time is that is the access's own; 0: the instruction's.
  void load(uint32_t step, PackedOutcome outcome, uint64_t address = 0, uint32_t bytes = 8,
            bool is_part = false, Site site = 0) {
    if (trace_ != nullptr) [[unlikely]]
      trace_->load(step, outcome, address, bytes, is_part, site);
    if (!outcome.plain_hit()) {
      accessed_ = site;
      load_missed(step, outcome, address);
    } else if (values_.may_hold(address, base_) || (is_part && is_of(part_before_, step))) {
      accessed_ = site;
      load_stored(step, address, bytes, is_part);
    } else if (lines_.last_arrives() > base_ && lines_.is_on_its_way(address, base_)) {
      accessed_ = site;
      load_on_its_way(step, address);
    }
  }
  /// The block's instruction number `step` has stored: each store is told. Further parts of it are
  /// told like this if they miss, and by store_part() if they hit.
  void store(uint32_t step, PackedOutcome outcome, uint64_t address = 0, uint32_t bytes = 8,
             Site site = 0);
  void store_part(uint64_t address, uint32_t bytes) {
    if (trace_ != nullptr) [[unlikely]]
      trace_->store_part(address, bytes);
    values_.add(address, bytes, time());
  }
  /// The instruction told last takes so long by itself, beside what it has in its block: microcode
  /// whose time its operands decide (a string instruction's).
  void spend_microcode(Site site, Ticks ticks);
  /// The load, or store, before set off prefetches of these lines; then `lines` is empty.
  void prefetch(PrefetchedLines& lines) {
    if (trace_ != nullptr) [[unlikely]]
      trace_->prefetch(lines);
    lines_.prefetch(lines, asked_at_);
  }

  // Call these between two blocks:

  /// The last instruction was a branch that `site` is, and it was predicted like this.
  void branch(Site site, Misprediction misprediction) {
    if (misprediction == Misprediction::none) return;
    if (trace_ != nullptr) [[unlikely]]
      trace_->branch(site, misprediction);
    mispredicted(site, misprediction);
  }
  /// It was taken: the front end follows one such branch per cycle. That of calls and returns is
  /// the calls' overhead.
  void taken(Site site, bool is_of_call = false);
  /// `outcome` of fetching the next block's bytes.
  void fetch(Site site, PackedOutcome outcome) {
    if (outcome.plain_hit()) return;
    if (trace_ != nullptr) [[unlikely]]
      trace_->fetch(site, outcome);
    fetch_missed(site, outcome);
  }

  /// The whole block under way is in it.
  [[nodiscard]] Ticks now() const { return base_ + (block_ != nullptr ? block_->total : 0); }

 private:
  /// The part of a load that was told last.
  struct Part {
    uint64_t uops = ~uint64_t{0};  // before its block
    uint32_t step = 0;
    StoredValues::Source source;
  };
  [[nodiscard]] bool is_of(const Part& part, uint32_t step) const {
    return part.uops == uops_ && part.step == step;
  }

  [[nodiscard]] Ticks time() const { return base_ + offset_; }
  [[nodiscard]] Site site_of(const Step& step) const {
    return accessed_ != 0 ? accessed_ : step.site;
  }
  [[nodiscard]] Ticks addresses_ready(const Step& step) const;
  [[nodiscard]] Ticks operands_ready(const Step& step) const;
  void advance(uint32_t step);
  void dispatch(const Step& step);
  void run(const Step& step);
  void run_usual(const Step& step);
  void finish(const Step& step, Ticks start);
  void make_room(const Step& step);
  void note_waiting(const Step& step, Ticks done);
  void wait_for_oldest();
  void wait_for_exclusive(const Step& step, const LoadMiss& miss);
  void wait_for_miss(Site site, const LoadMiss& miss);
  void wait_for_operands();
  void wait_for_store(const StoreQueue::Store& store);
  void load_missed(uint32_t step, Outcome outcome, uint64_t address);
  void load_stored(uint32_t step, uint64_t address, uint32_t bytes, bool is_part);
  void load_from(const StoredValues::Source& source, Ticks hit, bool is_renamed);
  void load_on_its_way(uint32_t step, uint64_t address);
  static void wait_for_fill(LoadMiss& miss, const LineFill& fill, Ticks otherwise);
  void fetch_missed(Site site, Outcome outcome);
  void mispredicted(Site site, Misprediction misprediction);
  void stall(Site site, CycleClass kind, Ticks until);
  Ticks take_miss_buffer(Site site, Ticks at, Ticks latency);
  void hold_back(Site site);

  struct Costs {  // in ticks, of the machine
    Ticks l1_hit, fetch_queue, mispredict, redirect;
    Ticks never_waited_for;  // what is done so soon cannot fill a buffer
    Ticks forward;           // from a store's value to that of a load of it
    Ticks refused;           // from when the store has left
    Ticks alias;
  };
  CoreSettings settings_;
  Costs costs_;
  SiteTicks* sites_;
  CoreTrace* trace_ = nullptr;

  // Dispatch: the clock, and what it counts.
  const BlockCycles* block_ = nullptr;
  Ticks base_ = 0;    // when the block's first uop could be dispatched
  Ticks offset_ = 0;  // of the instruction that is dispatched
  uint32_t next_step_ = 0;
  uint64_t uops_ = 0;  // dispatched before the block
  uint64_t loads_ = 0;

  // Instructions: when what they read is ready, and who is under way for long.
  std::array<Ticks, 128> ready_{};  // by Register
  Ticks resolved_ = 0;              // when the last instruction had its operands
  Ticks retires_ = 0;               // when all so far are done
  InstructionWindow window_;
  RecentMisses recent_misses_;

  // Memory: lines that come, stores that leave.
  LinesInFlight lines_;
  StoreQueue stores_;
  StoredValues values_;
  LoadMiss miss_;  // of the step next_step_; done == 0: none
  Part part_before_;
  Site accessed_ = 0;   // of the access under way; 0: its instruction's
  Ticks asked_at_ = 0;  // the last line that was not there

  // The front end.
  Ticks front_end_since_ = 0;  // when it began to run ahead of dispatch
  Ticks taken_at_ = 0;         // the last taken branch
};

}  // namespace culprit::simulate
