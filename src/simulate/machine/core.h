#pragma once

// IntervalCore: modelled time. Between miss events a core dispatches at the rate of its
// blocks (cycles.h); a miss event stops dispatch for an interval:
//
//   load miss       dispatch goes on until the reorder buffer (or load queue) is full behind
//                   the load, then waits for it. Misses inside one window overlap by
//                   themselves; a load whose address comes from another waits for that one.
//   store miss      stores leave in order; dispatch waits when the store queue is full
//   miss buffers    a miss waits while all are taken; lines to and from memory pass one by
//                   one: both waits are bandwidth saturation
//   fetch miss      dispatch waits, beyond what the queue of fetched instructions holds
//   misprediction   dispatch waits until the branch is known (and what it depends on) and
//                   the right path arrives
//
// Every tick that the clock moves belongs to one class and one instruction: the sum over
// blocks (executions x BlockCycles) and over stalls() is now().
//
// Source: T. Karkhanis, J. Smith, A First-Order Superscalar Processor Model, ISCA 2004;
//         S. Eyerman et al., ACM TOCS 27:2 (2009); interval simulation: D. Genbrugge et al.,
//         HPCA 2010. What is left out: the issue queue filling before the reorder buffer,
//         ramp-up after a flush, store-to-load forwarding, prefetches that come late.

#include <array>
#include <cstdint>
#include <tsl/robin_map.h>
#include <vector>

#include "simulate/machine/branch.h"
#include "simulate/machine/cycles.h"
#include "simulate/machine/machine.h"
#include "simulate/machine/outcome.h"

namespace culprit::simulate {

class IntervalCore {
 public:
  explicit IntervalCore(const Machine& machine);

  /// One execution of a block starts. Call before what happens in it; split blocks longer
  /// than about a quarter of the reorder buffer.
  void block(const BlockCycles& block);

  /// `outcome` of fetching the block's bytes.
  void fetch(Site site, Outcome outcome) {
    if (!outcome.plain_hit()) fetch_missed(site, outcome);
  }

  /// `address_from`: the load whose value this one's address is made of, 0 if none.
  void load(Site site, Outcome outcome, Site address_from = 0) {
    if (outcome.plain_hit() && address_from == 0) return;
    load_slowly(site, outcome, address_from);
  }

  void store(Site site, Outcome outcome);

  /// `value_from`: the load that decides the branch, 0 if none.
  void branch(Site site, Misprediction misprediction, Site value_from = 0) {
    if (misprediction != Misprediction::none) mispredicted(site, misprediction, value_from);
  }

  [[nodiscard]] Ticks now() const { return now_; }

  /// What misses added, by instruction: all of now() that is not in blocks.
  using Stalls = tsl::robin_map<Site, CycleParts>;
  [[nodiscard]] const Stalls& stalls() const { return stalls_; }

  /// Ticks during which a condition held that this instruction met, beside what it stalled: a
  /// miss may wait for a buffer while others are worked on. They overlap, and are no part of
  /// now().
  struct Busy {
    Ticks miss_buffers_full = 0;  // its misses waited for a free one
    Ticks store_queue_full = 0;   // dispatch waited for it to leave the store queue
    Ticks scheduler_empty = 0;    // dispatch had nothing: its fetch misses and mispredictions
    Ticks wrong_path = 0;         // from its dispatch as a mispredicted branch to its execution
  };
  using BusySites = tsl::robin_map<Site, Busy>;
  [[nodiscard]] const BusySites& busy() const { return busy_; }

 private:
  /// A load under way that takes longer than an L1 hit.
  struct Miss {
    uint64_t uop = 0;     // its block was dispatched after so many others
    uint64_t number = 0;  // the same in loads
    Ticks done = 0;
    Ticks translation = 0;  // of the time up to `done`
    Ticks bandwidth = 0;
    CycleClass kind = CycleClass::load_l2;
    Site site = 0;
  };

  struct Store {
    Ticks leaves = 0;   // the queue, for L1D
    Ticks retires = 0;  // when the loads before it are done
    Site site = 0;
  };
  struct Value {
    Site site = 0;
    Ticks at = 0;
  };

  void load_slowly(Site site, Outcome outcome, Site address_from);
  void fetch_missed(Site site, Outcome outcome);
  void mispredicted(Site site, Misprediction misprediction, Site value_from);
  void retire();
  void pop_miss();
  void wait_for(const Miss& miss);
  void wait_for_store(const Store& store);
  void stall(Site site, CycleClass kind, Ticks until);
  Ticks take_miss_buffer(Site site, Ticks at, Ticks latency);
  Ticks pass_memory(Ticks at, const Outcome& outcome);
  void hold_back_memory(Site site);
  [[nodiscard]] Ticks value_ready(Site site) const;
  void note_value(Site site, Ticks at) { values_[site % values_.size()] = {site, at}; }

  struct Costs {  // in ticks, of the machine
    Ticks l1_hit, fetch_queue, mispredict, redirect, memory_line, memory_queue;
  };
  CoreSettings settings_;
  Costs costs_;
  Ticks now_ = 0;
  uint64_t uops_ = 0;  // dispatched
  uint64_t loads_ = 0;
  uint64_t block_uop_ = 0;  // the same when the current block began
  uint64_t block_load_ = 0;
  std::vector<Miss> misses_;  // a ring, in program order
  size_t first_miss_ = 0;
  size_t miss_count_ = 0;
  Ticks loads_done_ = 0;        // all so far
  std::vector<Ticks> buffers_;  // when each miss buffer is free
  std::vector<Store> stores_;   // a ring of the store queue's size
  size_t next_store_ = 0;
  Ticks last_store_leaves_ = 0;
  Ticks memory_free_ = 0;
  Ticks front_end_since_ = 0;         // when it began to run ahead of dispatch
  std::array<Value, 1024> values_{};  // when loads had their data, by site
  Stalls stalls_;
  BusySites busy_;
};

}  // namespace culprit::simulate
