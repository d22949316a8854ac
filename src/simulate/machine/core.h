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
#include <vector>

#include "simulate/machine/branch.h"
#include "simulate/machine/core_trace.h"
#include "simulate/machine/cycles.h"
#include "simulate/machine/machine.h"
#include "simulate/machine/outcome.h"
#include "simulate/machine/prefetch.h"

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
    } else if (may_be_stored(address) || (is_part && is_of(part_before_, step))) {
      accessed_ = site;
      load_stored(step, address, bytes, is_part);
    } else if (last_fill_arrives_ > base_ && is_on_its_way(address)) {
      accessed_ = site;
      load_on_its_way(step, address);
    }
  }
  /// Each store is told, once; further parts of it only if they miss,
  void store(uint32_t step, PackedOutcome outcome, uint64_t address = 0, uint32_t bytes = 8,
             Site site = 0);
  /// and else by this.
  void store_part(uint64_t address, uint32_t bytes) {
    if (trace_ != nullptr) [[unlikely]]
      trace_->store_part(address, bytes);
    note_stored(address, bytes);
  }
  /// The instruction told last takes so long by itself, beside what it has in its block: microcode
  /// whose time its operands decide (a string instruction's).
  void spend_microcode(Site site, Ticks ticks);
  /// Lines that the load, or store, before set off prefetches of; then `lines` is empty.
  void prefetch(PrefetchedLines& lines);

  // Between two blocks:

  /// The last instruction was a branch that `site` is, and it was predicted like this.
  void branch(Site site, Misprediction misprediction) {
    if (misprediction == Misprediction::none) return;
    if (trace_ != nullptr) [[unlikely]]
      trace_->branch(site, misprediction);
    mispredicted(site, misprediction);
  }
  /// It was taken: the front end follows one such branch per cycle.
  void taken(Site site);
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
  /// A load that missed, while its instruction waits for it.
  struct Miss {
    Ticks done = 0;
    Ticks own = 0;  // of that: latency beyond an L1 hit's
    Ticks translation = 0;
    Ticks bandwidth = 0;
    CycleClass kind = CycleClass::load_l2;
    Site site = 0;  // whose it is; 0: the instruction's
  };

  /// A line that was asked for lately.
  struct Fill {
    uint64_t line = 0;
    Ticks arrives = 0;
    Ticks bandwidth = 0;  // of that, it waited for others
    CycleClass kind = CycleClass::load_l2;
  };
  [[nodiscard]] uint64_t line_of(uint64_t address) const { return address >> line_shift_; }
  Fill& fill_of(uint64_t line) { return fills_[line % fills_.size()]; }
  bool is_on_its_way(uint64_t address) {
    const Fill& fill = fill_of(line_of(address));
    return fill.line == line_of(address) && fill.arrives > base_;
  }

  /// A load that missed, and whose it was.
  struct Missed {
    Miss miss;
    Site site = 0;
  };

  /// An instruction under way for so long that dispatch may have to wait for it.
  struct Waiting {
    uint64_t uop = 0;   // its number
    uint64_t load = 0;  // the same in loads
    Ticks done = 0;
    Ticks division = 0;  // its latency, if it is one
    Site site = 0;
    bool missed = false;  // there is a Miss at the same place
  };

  /// Values on their way through memory, to a word of eight bytes.
  struct Stored {
    uint64_t word = 0;
    Ticks ready = 0;     // the last value
    Ticks leaves = 0;    // its store, for L1D
    uint32_t store = 0;  // its number
    uint8_t bytes = 0;   // that it writes, a bit each
    uint8_t older = 0;   // the others, that stores before it write
  };
  /// Where a load has its value from.
  struct Source {
    uint32_t store = 0;  // 0: not from one
    Ticks ready = 0;
    Ticks leaves = 0;
    bool is_refused = false;  // no store has all of it
    bool is_start = false;    // what the store wrote begins where the load does
  };
  /// The part of a load that was told last.
  struct Part {
    uint64_t uops = ~uint64_t{0};  // before its block
    uint32_t step = 0;
    Source source;
  };
  [[nodiscard]] bool is_of(const Part& part, uint32_t step) const {
    return part.uops == uops_ && part.step == step;
  }
  static uint64_t word_of(uint64_t address) { return address / 8; }
  Stored& stored(uint64_t address) { return stored_[word_of(address) % stored_.size()]; }
  /// Whether a store that has not left yet wrote the word, or one that is taken for it.
  bool may_be_stored(uint64_t address) {
    const Stored& known = stored(address);
    return known.leaves > base_ && ((known.word ^ word_of(address)) & compared_) == 0;
  }

  struct Store {
    Ticks leaves = 0;   // the queue, for L1D
    Ticks retires = 0;  // when it and all before it are done
    Site site = 0;
  };

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
  void pop_waiting();
  void wait_for_oldest();
  void wait_for_miss(Site site, const Miss& miss);
  void wait_for_operands();
  void wait_for_store(const Store& store);
  void load_missed(uint32_t step, Outcome outcome, uint64_t address);
  void load_stored(uint32_t step, uint64_t address, uint32_t bytes, bool is_part);
  void load_from(const Source& source, Ticks hit, bool is_renamed);
  Source find_source(uint64_t address, uint32_t bytes, Ticks at);
  void note_stored(uint64_t address, uint32_t bytes);
  void load_on_its_way(uint32_t step, uint64_t address);
  static void wait_for_fill(Miss& miss, const Fill& fill, Ticks otherwise);
  void note_fill(const Fill& fill);
  void fetch_missed(Site site, Outcome outcome);
  void mispredicted(Site site, Misprediction misprediction);
  void stall(Site site, CycleClass kind, Ticks until);
  Ticks enter_set(uint64_t address, Ticks at);
  Ticks take_miss_buffer(Site site, Ticks at, Ticks latency);
  Ticks pass(Ticks at, const Outcome& outcome);
  void hold_back(Site site);

  /// What lines pass one by one: the ways to L2, to the shared level and to memory.
  struct Channel {
    Ticks line = 0;   // that one takes
    Ticks queue = 0;  // full, this is its length
    Ticks free = 0;

    /// Puts lines on the way at `now`; how long one that is asked for at `at` waits for those
    /// that are on it already.
    Ticks pass(Ticks now, Ticks at, uint32_t lines) {
      const Ticks wait = free > at ? free - at : 0;
      free = (free > now ? free : now) + line * lines;
      return wait;
    }
  };

  struct Costs {  // in ticks, of the machine
    Ticks l1_hit, fetch_queue, mispredict, redirect;
    Ticks never_waited_for;  // what is done so soon cannot fill a buffer
    Ticks l1d_set;
    Ticks forward;  // from a store's value to that of a load of it
    Ticks refused;  // from when the store has left
    Ticks alias;
  };
  CoreSettings settings_;
  Costs costs_;
  SiteTicks* sites_;
  CoreTrace* trace_ = nullptr;
  const BlockCycles* block_ = nullptr;
  Ticks base_ = 0;    // when the block's first uop could be dispatched
  Ticks offset_ = 0;  // of the instruction that is dispatched
  uint32_t next_step_ = 0;
  uint64_t uops_ = 0;  // dispatched before the block
  uint64_t loads_ = 0;
  uint64_t full_uop_;  // the first uop, and load, that must wait for the oldest
  uint64_t full_load_;
  std::array<Fill, 64> fills_{};    // by line
  Ticks last_fill_arrives_ = 0;     // of all
  Ticks asked_at_ = 0;              // the last line that was not there
  std::array<Missed, 8> missed_{};  // the last loads that were, a ring
  size_t next_missed_ = 0;
  Miss miss_;                        // of the step next_step_; done == 0: none
  Site accessed_ = 0;                // of the access under way; 0: its instruction's
  Ticks resolved_ = 0;               // when the last instruction had its operands
  Ticks retires_ = 0;                // when all so far are done
  std::array<Ticks, 128> ready_{};   // by Register
  std::array<Stored, 64> stored_{};  // the last, by address
  Stored last_stored_;               // by the last store
  uint64_t compared_;                // bits of words by which loads find stores
  Part part_before_;
  std::vector<Waiting> waiting_;      // a ring, in program order; a power of two
  std::vector<Miss> waiting_misses_;  // of those that missed, at the same places
  size_t first_waiting_ = 0;
  size_t waiting_count_ = 0;
  Ticks last_waiting_done_ = 0;  // of the newest in the ring
  std::vector<Ticks> buffers_;   // when each miss buffer is free: a heap, the first one first
  std::vector<Store> stores_;    // a ring of the store queue's size
  size_t next_store_ = 0;
  Ticks last_store_leaves_ = 0;
  Channel memory_;
  Channel shared_;
  Channel l2_;
  uint32_t line_shift_;
  std::vector<Ticks> sets_free_;  // when each set of L1D takes the next line; empty: at once
  Ticks front_end_since_ = 0;     // when it began to run ahead of dispatch
  Ticks taken_at_ = 0;            // the last taken branch
};

}  // namespace culprit::simulate
