#include "simulate/machine/core.h"

#include <algorithm>

namespace culprit::simulate {
namespace {

constexpr Ticks cycles(uint64_t count) {
  return count * kTicksPerCycle;
}

constexpr Ticks minus(Ticks whole, Ticks part) {
  return whole > part ? whole - part : 0;
}

}  // namespace

IntervalCore::IntervalCore(const MachineModel& machine, SiteTicks* sites)
    : settings_(machine.core),
      sites_(sites),
      window_(machine.core),
      lines_(machine),
      stores_(machine.core),
      values_(machine.core.alias_cycles != 0) {
  const CoreSettings& core = settings_;
  costs_.l1_hit = cycles(machine.l1d.latency_cycles);
  costs_.fetch_queue = cycles(core.fetch_queue) / core.dispatch_width;
  costs_.mispredict = cycles(core.mispredict_cycles);
  costs_.redirect = cycles(core.redirect_cycles);
  costs_.forward =
      core.store_forward_cycles == 0 ? costs_.l1_hit : cycles(core.store_forward_cycles);
  costs_.refused = cycles(core.forward_refused_cycles);
  costs_.alias = cycles(core.alias_cycles);
  costs_.never_waited_for =
      cycles(std::min({core.reorder_buffer, core.load_queue, core.store_queue})) /
      core.dispatch_width;
}

void IntervalCore::begin_block(const BlockCycles& block) {
  if (trace_ != nullptr) [[unlikely]]
    trace_->begin_block(block);
  block_ = &block;
  next_step_ = 0;
}

void IntervalCore::end_block() {
  if (block_ == nullptr) return;
  if (trace_ != nullptr) [[unlikely]]
    trace_->end_block();
  advance(static_cast<uint32_t>(block_->steps.size()));
  base_ += block_->total;
  offset_ = 0;
  uops_ += block_->uops;
  loads_ += block_->loads;
  block_ = nullptr;
}

/// Runs the block's instructions before number `step`.
void IntervalCore::advance(uint32_t step) {
  uint32_t next = next_step_;
  if (next >= step) return;
  const Step* const steps = block_->steps.data();
  if (miss_.done != 0) {  // loads that were told are the next instruction's
    dispatch(steps[next]);
    run(steps[next++]);
  }
  for (; next < step; ++next) run_usual(steps[next]);
  next_step_ = step;
}

inline void IntervalCore::dispatch(const Step& step) {
  offset_ = step.dispatched;
  if (window_.is_full(uops_ + step.uops, loads_ + step.loads)) [[unlikely]]
    make_room(step);
}

inline Ticks IntervalCore::addresses_ready(const Step& step) const {
  return std::max(
      {time(), ready_[step.addresses[0]], ready_[step.addresses[1]], ready_[step.addresses[2]]});
}

inline Ticks IntervalCore::operands_ready(const Step& step) const {
  return std::max(
      {ready_[step.reads[0]], ready_[step.reads[1]], ready_[step.reads[2]], ready_[step.reads[3]]});
}

/// Runs any instruction.
void IntervalCore::run(const Step& step) {
  const Ticks addressed = addresses_ready(step);
  Ticks start = addressed;
  if (step.is_load) start = miss_.done != 0 ? miss_.done : addressed + costs_.l1_hit;
  start = std::max(start, operands_ready(step));
  ready_[step.updates] = addressed + kTicksPerCycle;
  ready_[step.writes[2]] = start + step.latency;
  finish(step, start);
  miss_.done = 0;
}

/// Runs an instruction that no load was told of.
inline void IntervalCore::run_usual(const Step& step) {
  dispatch(step);
  switch (step.kind) {
    case StepKind::simple:
      finish(step, std::max({time(), ready_[step.reads[0]], ready_[step.reads[1]]}));
      break;
    case StepKind::simple_load:
      finish(step,
             std::max(std::max({time(), ready_[step.addresses[0]], ready_[step.addresses[1]]}) +
                          costs_.l1_hit,
                      ready_[step.reads[0]]));
      break;
    case StepKind::other:
      run(step);
  }
}

/// The instruction has what it reads at `start`.
inline void IntervalCore::finish(const Step& step, Ticks start) {
  const Ticks done = start + step.latency;
  ready_[step.writes[0]] = done;
  ready_[step.writes[1]] = done;
  resolved_ = start;
  retires_ = std::max(retires_, done);
  if (done > time() + costs_.never_waited_for) [[unlikely]]
    note_waiting(step, done);
}

void IntervalCore::note_waiting(const Step& step, Ticks done) {
  if (window_.hides(done)) return;
  if (window_.has_no_place()) {
    wait_for_oldest();
    window_.pop();
  }
  window_.push({.uop = uops_ + step.uops,
                .load = loads_ + step.loads,
                .done = done,
                .division = step.divides ? step.latency : 0,
                .microcode = step.is_microcode ? step.latency : 0,
                .site = step.site,
                .missed = miss_.done != 0},
               miss_);
}

/// Instructions leave in order. The oldest that is not done stops dispatch once the reorder
/// buffer or the load queue behind it is full.
void IntervalCore::make_room(const Step& step) {
  while (window_.is_full(uops_ + step.uops, loads_ + step.loads)) {
    wait_for_oldest();
    window_.pop();
  }
}

/// The clock moves to the instruction's end. The time goes first to what held its load up, then
/// to the load, then to its division or microcode; what is left is the chain of operations that it
/// is in.
void IntervalCore::wait_for_oldest() {
  const InstructionWindow::Entry& oldest = window_.oldest();
  if (oldest.done <= time()) return;
  if (oldest.missed) wait_for_miss(oldest.site, window_.oldest_miss());
  stall(oldest.site, CycleClass::instruction_latency,
        std::min(oldest.done, time() + oldest.division));
  stall(oldest.site, CycleClass::microcode, std::min(oldest.done, time() + oldest.microcode));
  stall(oldest.site, CycleClass::serialization, oldest.done);
}

/// The time that is the load's own, as far as it is still to come.
void IntervalCore::wait_for_miss(Site site, const LoadMiss& miss) {
  if (miss.site != 0) site = miss.site;
  const auto give = [&](CycleClass kind, Ticks most) {
    stall(site, kind, std::min(miss.done, time() + most));
  };
  give(CycleClass::load_translation, miss.translation);
  give(CycleClass::bandwidth_saturation, miss.bandwidth);
  give(miss.kind, miss.own);
}

void IntervalCore::stall(Site site, CycleClass kind, Ticks until) {
  const Ticks now = time();
  if (until <= now) return;
  sites_[site].stalls[kind] += until - now;
  base_ += until - now;
}

/// The time at which a miss that is ready at `at` gets a buffer, which it keeps for `latency`.
Ticks IntervalCore::take_miss_buffer(Site site, Ticks at, Ticks latency) {
  const Ticks begin = lines_.take_buffer(at, latency);
  sites_[site].busy.miss_buffers_full += begin - at;
  return begin;
}

/// A channel's queue holds as many lines as there are miss buffers: who makes it longer
/// (prefetches and write-backs do, too) waits.
void IntervalCore::hold_back(Site site) {
  for (const LineChannel& channel : lines_.channels()) {
    if (channel.free > time() + channel.queue) {
      stall(site, CycleClass::bandwidth_saturation, channel.free - channel.queue);
    }
  }
}

void IntervalCore::load_missed(uint32_t number, Outcome outcome, uint64_t address) {
  advance(number);
  const Step& step = block_->steps[number];
  dispatch(step);
  // A line that was lost to another core since this one stored there comes after that store.
  const Ticks stored = values_.knows(address) ? values_.at(address).ready : 0;
  const Ticks start = std::max(addresses_ready(step), stored);
  const Ticks latency =
      std::max(cycles(outcome.latency_cycles), outcome.walk_cycles != 0 ? costs_.l1_hit : 0);
  LoadMiss miss;
  miss.kind = class_of(outcome.source);
  miss.site = accessed_;
  miss.translation = cycles(outcome.walk_cycles);
  const Ticks translated = start + miss.translation;
  Ticks enters = translated;
  Ticks begin = translated;
  if (outcome.missed_lines != 0) {
    enters = lines_.enter_set(address, translated);
    begin = take_miss_buffer(site_of(step), enters, latency);
  }
  const Ticks queued = lines_.pass(time(), begin, outcome);
  miss.bandwidth = begin - enters + queued;
  miss.own = minus(latency, costs_.l1_hit) + (enters - translated);
  miss.done = begin + queued + latency;
  const Ticks hit = start + costs_.l1_hit;
  if (lines_.last_arrives() > hit) {
    const Ticks otherwise = std::max(miss.done, hit);
    if (lines_.is_on_its_way(address, otherwise)) {
      wait_for_fill(miss, lines_.fill_of(address), otherwise);
    }
  }
  const bool is_late = latency != 0 || miss.translation != 0 || miss.done > hit;
  if (is_late && miss.done > miss_.done) miss_ = miss;  // the last part of a wide load counts
  if (outcome.missed_lines != 0) {
    lines_.add({lines_.line_of(address), miss.done, miss.bandwidth, miss.kind});
  }
  asked_at_ = translated;
  recent_misses_.add(miss, step.site);
  hold_back(site_of(step));
}

/// The line was asked for before: the load waits for the rest.
void IntervalCore::load_on_its_way(uint32_t number, uint64_t address) {
  advance(number);
  const Step& step = block_->steps[number];
  dispatch(step);
  const LineFill& fill = lines_.fill_of(address);
  const Ticks hit = addresses_ready(step) + costs_.l1_hit;
  if (fill.arrives <= std::max(hit, miss_.done)) return;
  miss_ = {};
  miss_.site = accessed_;
  wait_for_fill(miss_, fill, hit);
}

void IntervalCore::wait_for_fill(LoadMiss& miss, const LineFill& fill, Ticks otherwise) {
  const Ticks late = fill.arrives - otherwise;
  const Ticks queued = std::min(late, fill.bandwidth);
  miss.bandwidth += queued;
  miss.own += late - queued;
  miss.kind = fill.kind;
  miss.done = fill.arrives;
}

/// A hit in L1D that a store before it has to do with, or one at the same place of another page.
void IntervalCore::load_stored(uint32_t number, uint64_t address, uint32_t bytes, bool is_part) {
  advance(number);
  const Step& step = block_->steps[number];
  dispatch(step);
  const Ticks addressed = addresses_ready(step);
  const Ticks hit = addressed + costs_.l1_hit;
  StoredValues::Source source = values_.find_source(address, bytes, addressed);
  if (is_part) {
    const bool has_part = is_of(part_before_, number);
    const StoredValues::Source before = has_part ? part_before_.source : StoredValues::Source();
    source.is_refused |= before.is_refused || before.store != source.store;
    source.ready = std::max(source.ready, before.ready);
    source.leaves = std::max(source.leaves, before.leaves);
  }
  part_before_ = {uops_, number, source};
  if (source.store != 0 || source.is_refused) {
    load_from(source, hit, settings_.renamed_memory && step.renames && bytes >= 4);
    return;
  }
  // A store that has just retired is still there for about as long as it costs.
  const bool is_alias =
      !values_.knows(address) && values_.at(address).leaves + costs_.alias > addressed;
  if (is_alias) {
    const Ticks done = hit + costs_.alias;
    if (done > miss_.done) {
      miss_ = {
          .done = done, .own = costs_.alias, .kind = CycleClass::load_alias, .site = accessed_};
    }
  } else if (lines_.is_on_its_way(address, base_)) {
    load_on_its_way(number, address);
  }
}

/// A store that wrote all of it hands its value over, or the load waits until the stores have left.
void IntervalCore::load_from(const StoredValues::Source& source, Ticks hit, bool is_renamed) {
  LoadMiss miss;
  miss.site = accessed_;
  miss.done = std::max(hit, source.ready + costs_.forward);
  if (source.is_refused) {
    const Ticks done = source.leaves + costs_.refused;
    miss.own = minus(done, miss.done);
    miss.done = std::max(miss.done, done);
    miss.kind = CycleClass::load_forward_refused;
  } else if (is_renamed && source.is_start) {
    miss.done = std::max(source.ready, time());
  }
  if (miss.done > miss_.done) miss_ = miss;
}

/// Dispatch of a store finds the queue full of older ones: as long as those wait for what is
/// before them, that is the time of the latter.
void IntervalCore::wait_for_store(const StoreQueue::Store& store) {
  if (store.leaves <= time()) return;
  const Ticks begin = time();
  while (!window_.is_empty() && window_.oldest().done <= store.retires) {
    wait_for_oldest();
    window_.pop();
  }
  sites_[store.site].busy.store_queue_full += store.leaves - begin;
  stall(store.site, CycleClass::store_saturation, store.leaves);
}

/// A locked instruction begins when it has its line, and nothing behind it does before.
void IntervalCore::wait_for_exclusive(const Step& step, const LoadMiss& miss) {
  wait_for_miss(site_of(step), miss);
  stall(site_of(step), CycleClass::serialization, miss.done);
}

void IntervalCore::store(uint32_t number, PackedOutcome packed, uint64_t address, uint32_t bytes,
                         Site site) {
  if (trace_ != nullptr) [[unlikely]]
    trace_->store(number, packed, address, bytes, site);
  accessed_ = site;
  advance(number);
  const Step& step = block_->steps[number];
  dispatch(step);
  StoreQueue::Store& slot = stores_.next();
  wait_for_store(slot);
  const Ticks addressed = addresses_ready(step);
  Ticks owned = addressed;  // when the line is here to be written
  LoadMiss miss;
  bool moves_lines = false;
  if (!packed.plain_hit()) {
    const Outcome outcome = packed;
    moves_lines = outcome.missed_lines != 0 || outcome.shared_lines != 0;
    const Ticks latency = cycles(outcome.latency_cycles);
    miss.translation = cycles(outcome.walk_cycles);
    miss.kind = class_of(outcome.source);
    miss.site = site;
    owned += miss.translation;
    if (outcome.missed_lines != 0) owned = lines_.enter_set(address, owned);
    if (outcome.missed_lines != 0 || outcome.upgraded)
      owned = take_miss_buffer(site_of(step), owned, latency);
    asked_at_ = owned;
    miss.bandwidth = lines_.pass(time(), owned, outcome);
    miss.own = latency + owned - addressed - miss.translation;
    owned += miss.bandwidth + latency;
    if (outcome.missed_lines != 0) {
      lines_.add({lines_.line_of(address), owned, miss.bandwidth, miss.kind});
    }
  }
  miss.done = owned;
  if (lines_.last_arrives() > owned && lines_.is_on_its_way(address, owned)) {
    wait_for_fill(miss, lines_.fill_of(address), owned);
    owned = miss.done;
  }
  if (step.is_exclusive && owned > addressed) [[unlikely]]
    wait_for_exclusive(step, miss);
  Ticks value = operands_ready(step);  // is there
  if (step.is_load) {
    value =
        std::max(value, miss_.done != 0 ? miss_.done : addressed + costs_.l1_hit) + step.latency;
  }
  slot.site = site_of(step);
  slot.retires = std::max({retires_, addressed, value});
  stores_.send(slot, owned);
  values_.begin_store(value, slot.leaves);
  values_.add(address, bytes, time());
  if (moves_lines) hold_back(site_of(step));
}

void IntervalCore::spend_microcode(Site site, Ticks ticks) {
  if (trace_ != nullptr) [[unlikely]]
    trace_->spend_microcode(site, ticks);
  stall(site, CycleClass::microcode, time() + ticks);
}

void IntervalCore::fetch_missed(Site site, Outcome outcome) {
  const Ticks ahead = std::min(costs_.fetch_queue, time() - front_end_since_);
  const Ticks late = cycles(uint64_t{outcome.latency_cycles} + outcome.walk_cycles) +
                     lines_.pass(time(), time(), outcome);
  if (late > ahead) {
    sites_[site].busy.scheduler_empty += late - ahead;
    stall(site, CycleClass::instruction_starvation, time() + late - ahead);
    front_end_since_ = time();
  }
}

/// The clock moves on to when the last instruction, a mispredicted branch, had its operands: as far
/// as older instructions were under way for long, that is their time. What a core hides where
/// nothing is predicted wrong is left, for the branch.
void IntervalCore::wait_for_operands() {
  while (!window_.is_empty() && window_.oldest().done <= resolved_) {
    wait_for_oldest();
    window_.pop();
  }
  if (resolved_ <= time()) return;
  const RecentMisses::Entry* const last = recent_misses_.find_last(time(), resolved_);
  const bool is_fed = last != nullptr && resolved_ - last->miss.done <= costs_.never_waited_for;
  if (is_fed) wait_for_miss(last->site, last->miss);
}

void IntervalCore::mispredicted(Site site, Misprediction misprediction) {
  Busy& busy = sites_[site].busy;
  if (misprediction == Misprediction::late_target) {
    busy.scheduler_empty += costs_.redirect;
    stall(site, CycleClass::branch_misprediction, time() + costs_.redirect);
  } else {
    const Ticks resolved = std::max(time(), resolved_);
    busy.wrong_path += resolved - time();
    busy.scheduler_empty += costs_.mispredict;
    wait_for_operands();
    stall(site, CycleClass::branch_misprediction, resolved + costs_.mispredict);
  }
  front_end_since_ = time();
}

void IntervalCore::taken(Site site, bool is_of_call) {
  if (trace_ != nullptr) [[unlikely]]
    trace_->taken(site, is_of_call);
  const CycleClass kind =
      is_of_call ? CycleClass::call_overhead : CycleClass::instruction_starvation;
  stall(site, kind, taken_at_ + kTicksPerCycle);
  taken_at_ = time();
}

}  // namespace culprit::simulate
