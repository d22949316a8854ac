#include "simulate/machine/core.h"

#include <algorithm>

namespace culprit::simulate {
namespace {

constexpr Ticks cycles(uint64_t count) {
  return count * kTicksPerCycle;
}

CycleClass class_of(DataSource source) {
  switch (source) {
    case DataSource::l1:
      return CycleClass::load_translation;  // all that an L1 hit can wait for
    case DataSource::l2:
      return CycleClass::load_l2;
    case DataSource::l3:
      return CycleClass::load_l3;
    case DataSource::other_core_clean:
      return CycleClass::load_other_core_clean;
    case DataSource::other_core_modified:
      return CycleClass::load_other_core_modified;
    case DataSource::memory:
      break;
  }
  return CycleClass::load_memory;
}

}  // namespace

IntervalCore::IntervalCore(const Machine& machine)
    : settings_(machine.core),
      misses_(std::max<size_t>(machine.core.reorder_buffer, 512)),
      buffers_(machine.core.miss_buffers),
      stores_(machine.core.store_queue) {
  costs_.l1_hit = cycles(machine.l1d.latency_cycles);
  costs_.fetch_queue = cycles(machine.core.fetch_queue) / machine.core.dispatch_width;
  costs_.mispredict = cycles(machine.core.mispredict_cycles);
  costs_.redirect = cycles(machine.core.redirect_cycles);
  costs_.memory_line = to_ticks(machine.line_bytes / machine.memory.bytes_per_cycle);
  costs_.memory_queue = costs_.memory_line * machine.core.miss_buffers;
}

void IntervalCore::block(const BlockCycles& block) {
  now_ += block.total;
  block_uop_ = uops_;
  block_load_ = loads_;
  uops_ += block.uops;
  loads_ += block.loads;
  if (miss_count_ != 0) retire();
}

/// Loads leave in order. The oldest that is not done stops dispatch once the reorder buffer or
/// the load queue behind it is full.
void IntervalCore::retire() {
  while (miss_count_ != 0) {
    const Miss& oldest = misses_[first_miss_];
    if (oldest.done > now_) {
      const bool full = uops_ - oldest.uop > settings_.reorder_buffer ||
                        loads_ - oldest.number > settings_.load_queue;
      if (!full) return;
      wait_for(oldest);
    }
    pop_miss();
  }
}

void IntervalCore::pop_miss() {
  first_miss_ = (first_miss_ + 1) % misses_.size();
  --miss_count_;
}

/// The clock moves to the load's end. The time goes first to what held the load up.
void IntervalCore::wait_for(const Miss& miss) {
  if (miss.done <= now_) return;
  const Ticks begin = now_;
  const Ticks translation = std::min(miss.done - begin, miss.translation);
  stall(miss.site, CycleClass::load_translation, begin + translation);
  const Ticks bandwidth = std::min(miss.done - now_, miss.bandwidth);
  stall(miss.site, CycleClass::bandwidth_saturation, now_ + bandwidth);
  stall(miss.site, miss.kind, miss.done);
}

void IntervalCore::stall(Site site, CycleClass kind, Ticks until) {
  if (until <= now_) return;
  stalls_[site][kind] += until - now_;
  now_ = until;
}

Ticks IntervalCore::value_ready(Site site) const {
  const Value& value = values_[site % values_.size()];
  return value.site == site && site != 0 ? value.at : 0;
}

/// The time at which a miss that is ready at `at` gets a buffer, which it keeps for `latency`.
Ticks IntervalCore::take_miss_buffer(Site site, Ticks at, Ticks latency) {
  Ticks& first_free = *std::min_element(buffers_.begin(), buffers_.end());
  const Ticks begin = std::max(at, first_free);
  if (begin > at) busy_[site].miss_buffers_full += begin - at;
  first_free = begin + latency;
  return begin;
}

/// Puts the lines of an access on the way to memory; its own is asked for at `at`, maybe later
/// than now. Returns how long that one waits for those on the way.
Ticks IntervalCore::pass_memory(Ticks at, const Outcome& outcome) {
  if (outcome.memory_lines == 0) return 0;
  const Ticks wait = memory_free_ > at ? memory_free_ - at : 0;
  memory_free_ = std::max(memory_free_, now_) + costs_.memory_line * outcome.memory_lines;
  return outcome.source == DataSource::memory ? wait : 0;
}

/// The queue to memory holds as many lines as there are miss buffers: who makes it longer
/// (prefetches and write-backs do, too) waits.
void IntervalCore::hold_back_memory(Site site) {
  if (memory_free_ > now_ + costs_.memory_queue) {
    stall(site, CycleClass::bandwidth_saturation, memory_free_ - costs_.memory_queue);
  }
}

void IntervalCore::load_slowly(Site site, Outcome outcome, Site address_from) {
  const Ticks start = std::max(now_, value_ready(address_from));
  if (outcome.plain_hit()) {
    if (start > now_) note_value(site, start + costs_.l1_hit);
    return;
  }
  const Ticks latency =
      std::max(cycles(outcome.latency_cycles), outcome.walk_cycles != 0 ? costs_.l1_hit : 0);
  Miss miss;
  miss.uop = block_uop_;
  miss.number = block_load_;
  miss.site = site;
  miss.kind = class_of(outcome.source);
  miss.translation = cycles(outcome.walk_cycles);
  Ticks begin = start + miss.translation;
  if (outcome.missed_lines != 0) begin = take_miss_buffer(site, begin, latency);
  const Ticks queued = pass_memory(begin, outcome);
  miss.bandwidth = begin - (start + miss.translation) + queued;
  miss.done = begin + queued + latency;
  if (latency != 0 || miss.translation != 0) {
    if (miss_count_ == misses_.size()) {  // a block longer than the ring
      wait_for(misses_[first_miss_]);
      pop_miss();
    }
    misses_[(first_miss_ + miss_count_) % misses_.size()] = miss;
    ++miss_count_;
    loads_done_ = std::max(loads_done_, miss.done);
    note_value(site, miss.done);
  }
  hold_back_memory(site);
}

/// Dispatch of a store finds the queue full of older ones: as long as those wait for loads,
/// that is the loads' time.
void IntervalCore::wait_for_store(const Store& store) {
  if (store.leaves <= now_) return;
  const Ticks begin = now_;
  while (miss_count_ != 0 && misses_[first_miss_].done <= store.retires) {
    wait_for(misses_[first_miss_]);
    pop_miss();
  }
  busy_[store.site].store_queue_full += store.leaves - begin;
  stall(store.site, CycleClass::store_saturation, store.leaves);
}

void IntervalCore::store(Site site, Outcome outcome) {
  Store& slot = stores_[next_store_];
  next_store_ = next_store_ + 1 == stores_.size() ? 0 : next_store_ + 1;
  wait_for_store(slot);
  Ticks owned = now_;  // when the line is here to be written
  if (!outcome.plain_hit()) {
    const Ticks latency = cycles(outcome.latency_cycles);
    owned += cycles(outcome.walk_cycles);
    if (outcome.missed_lines != 0 || outcome.upgraded)
      owned = take_miss_buffer(site, owned, latency);
    owned += pass_memory(owned, outcome) + latency;
  }
  slot.site = site;
  slot.retires = loads_done_;
  slot.leaves = std::max({last_store_leaves_ + kTicksPerCycle, owned, slot.retires});
  last_store_leaves_ = slot.leaves;
  if (outcome.memory_lines != 0) hold_back_memory(site);
}

void IntervalCore::fetch_missed(Site site, Outcome outcome) {
  const Ticks ahead = std::min(costs_.fetch_queue, now_ - front_end_since_);
  const Ticks late =
      cycles(uint64_t{outcome.latency_cycles} + outcome.walk_cycles) + pass_memory(now_, outcome);
  if (late > ahead) {
    busy_[site].scheduler_empty += late - ahead;
    stall(site, CycleClass::instruction_starvation, now_ + late - ahead);
    front_end_since_ = now_;
  }
}

void IntervalCore::mispredicted(Site site, Misprediction misprediction, Site value_from) {
  if (misprediction == Misprediction::late_target) {
    busy_[site].scheduler_empty += costs_.redirect;
    stall(site, CycleClass::branch_misprediction, now_ + costs_.redirect);
  } else {
    const Ticks resolved = std::max(now_, value_ready(value_from));
    Busy& busy = busy_[site];
    busy.wrong_path += resolved - now_;
    busy.scheduler_empty += costs_.mispredict;
    stall(site, CycleClass::branch_misprediction, resolved + costs_.mispredict);
  }
  front_end_since_ = now_;
}

}  // namespace culprit::simulate
