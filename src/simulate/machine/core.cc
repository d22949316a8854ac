#include "simulate/machine/core.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace culprit::simulate {
namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

constexpr Ticks cycles(uint64_t count) {
  return count * kTicksPerCycle;
}

constexpr Ticks minus(Ticks whole, Ticks part) {
  return whole > part ? whole - part : 0;
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

/// The bytes of a word that [address, address + bytes) has, a bit each.
uint8_t bytes_in_word(uint64_t word, uint64_t address, uint32_t bytes) {
  const uint64_t begin = std::max(word * 8, address);
  const uint64_t end = std::min(word * 8 + 8, address + bytes);
  return static_cast<uint8_t>(((1U << (end - begin)) - 1) << (begin - word * 8));
}

}  // namespace

IntervalCore::IntervalCore(const MachineModel& machine, SiteTicks* sites)
    : settings_(machine.core),
      sites_(sites),
      full_uop_(kNever),
      full_load_(kNever),
      waiting_(std::bit_ceil(std::max<size_t>(machine.core.reorder_buffer, 512))),
      waiting_misses_(waiting_.size()),
      buffers_(machine.core.miss_buffers),
      stores_(machine.core.store_queue),
      line_shift_(static_cast<uint32_t>(std::countr_zero(machine.line_bytes))),
      sets_free_(
          machine.memory.l1d_set_cycles == 0 ? 0 : compute_sets(machine.l1d, machine.line_bytes)) {
  const CoreSettings& core = settings_;
  costs_.l1_hit = cycles(machine.l1d.latency_cycles);
  costs_.fetch_queue = cycles(core.fetch_queue) / core.dispatch_width;
  costs_.mispredict = cycles(core.mispredict_cycles);
  costs_.redirect = cycles(core.redirect_cycles);
  memory_.line = to_ticks(machine.line_bytes / machine.memory.bytes_per_cycle);
  shared_.line = to_ticks(machine.line_bytes / machine.memory.shared_bytes_per_cycle);
  l2_.line = to_ticks(machine.line_bytes / machine.memory.l2_bytes_per_cycle);
  for (Channel* const channel : {&memory_, &shared_, &l2_}) {
    channel->queue = channel->line * core.miss_buffers;
  }
  costs_.forward =
      core.store_forward_cycles == 0 ? costs_.l1_hit : cycles(core.store_forward_cycles);
  costs_.refused = cycles(core.forward_refused_cycles);
  costs_.alias = cycles(core.alias_cycles);
  constexpr uint64_t kWordsInPage = 4096 / 8;
  compared_ = core.alias_cycles == 0 ? ~uint64_t{0} : kWordsInPage - 1;
  costs_.l1d_set = cycles(machine.memory.l1d_set_cycles);
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
  if (uops_ + step.uops >= full_uop_ || loads_ + step.loads >= full_load_) [[unlikely]] {
    make_room(step);
  }
}

inline Ticks IntervalCore::addresses_ready(const Step& step) const {
  return std::max(
      {time(), ready_[step.addresses[0]], ready_[step.addresses[1]], ready_[step.addresses[2]]});
}

inline Ticks IntervalCore::operands_ready(const Step& step) const {
  return std::max(
      {ready_[step.reads[0]], ready_[step.reads[1]], ready_[step.reads[2]], ready_[step.reads[3]]});
}

/// Any instruction.
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

/// One that no load was told of.
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
  // Who waits for an older one that takes longer has waited for this, too.
  if (waiting_count_ != 0 && done <= last_waiting_done_) return;
  last_waiting_done_ = done;
  if (waiting_count_ == waiting_.size()) {  // instructions of no uops
    wait_for_oldest();
    pop_waiting();
  }
  const size_t place = (first_waiting_ + waiting_count_) & (waiting_.size() - 1);
  Waiting& entry = waiting_[place];
  entry.uop = uops_ + step.uops;
  entry.load = loads_ + step.loads;
  entry.done = done;
  entry.division = step.divides ? step.latency : 0;
  entry.site = step.site;
  entry.missed = miss_.done != 0;
  if (entry.missed) waiting_misses_[place] = miss_;
  if (waiting_count_++ == 0) {
    full_uop_ = entry.uop + settings_.reorder_buffer;
    full_load_ = entry.load + settings_.load_queue;
  }
}

void IntervalCore::pop_waiting() {
  first_waiting_ = (first_waiting_ + 1) & (waiting_.size() - 1);
  --waiting_count_;
  const bool is_empty = waiting_count_ == 0;
  const Waiting& oldest = waiting_[first_waiting_];
  full_uop_ = is_empty ? kNever : oldest.uop + settings_.reorder_buffer;
  full_load_ = is_empty ? kNever : oldest.load + settings_.load_queue;
}

/// Instructions leave in order. The oldest that is not done stops dispatch once the reorder
/// buffer or the load queue behind it is full.
void IntervalCore::make_room(const Step& step) {
  while (uops_ + step.uops >= full_uop_ || loads_ + step.loads >= full_load_) {
    wait_for_oldest();
    pop_waiting();
  }
}

/// The clock moves to the instruction's end. The time goes first to what held its load up, then
/// to the load, then to its division; what is left is the chain of operations that it is in.
void IntervalCore::wait_for_oldest() {
  const Waiting& oldest = waiting_[first_waiting_];
  if (oldest.done <= time()) return;
  if (oldest.missed) wait_for_miss(oldest.site, waiting_misses_[first_waiting_]);
  stall(oldest.site, CycleClass::instruction_latency,
        std::min(oldest.done, time() + oldest.division));
  stall(oldest.site, CycleClass::serialization, oldest.done);
}

/// The time that is the load's own, as far as it is still to come.
void IntervalCore::wait_for_miss(Site site, const Miss& miss) {
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

/// When a line that is asked for at `at` may enter its set, which is not free for some time then.
Ticks IntervalCore::enter_set(uint64_t address, Ticks at) {
  if (sets_free_.empty() || address == 0) return at;
  Ticks& free = sets_free_[line_of(address) % sets_free_.size()];
  const Ticks enters = std::max(at, free);
  free = enters + costs_.l1d_set;
  return enters;
}

/// The time at which a miss that is ready at `at` gets a buffer, which it keeps for `latency`.
Ticks IntervalCore::take_miss_buffer(Site site, Ticks at, Ticks latency) {
  const Ticks begin = std::max(at, buffers_.front());
  if (begin > at) sites_[site].busy.miss_buffers_full += begin - at;
  // The first one is free much later now: it sinks to its place.
  const Ticks free = begin + latency;
  size_t place = 0;
  for (size_t child = 1; child < buffers_.size(); child = 2 * place + 1) {
    if (child + 1 < buffers_.size() && buffers_[child + 1] < buffers_[child]) ++child;
    if (free <= buffers_[child]) break;
    buffers_[place] = buffers_[child];
    place = child;
  }
  buffers_[place] = free;
  return begin;
}

/// Puts the lines of an access on their way; its own is asked for at `at`, maybe later than now.
/// Returns how long that one waits.
Ticks IntervalCore::pass(Ticks at, const Outcome& outcome) {
  const Ticks nearest = l2_.pass(time(), at, outcome.missed_lines);
  if (outcome.shared_lines == 0 && outcome.memory_lines == 0) return nearest;
  const Ticks near = shared_.pass(time(), at, outcome.shared_lines);
  const Ticks far = memory_.pass(time(), at, outcome.memory_lines);
  if (outcome.source <= DataSource::l2) return nearest;  // the others are not its lines
  return std::max(nearest, outcome.source == DataSource::memory ? std::max(near, far) : near);
}

/// A channel's queue holds as many lines as there are miss buffers: who makes it longer
/// (prefetches and write-backs do, too) waits.
void IntervalCore::hold_back(Site site) {
  for (const Channel* const channel : {&l2_, &shared_, &memory_}) {
    if (channel->free > time() + channel->queue) {
      stall(site, CycleClass::bandwidth_saturation, channel->free - channel->queue);
    }
  }
}

void IntervalCore::load_missed(uint32_t number, Outcome outcome, uint64_t address) {
  advance(number);
  const Step& step = block_->steps[number];
  dispatch(step);
  // A line that was lost to another core since this one stored there: not before that store.
  const bool follows = stored(address).word == word_of(address);
  const Ticks start = std::max(addresses_ready(step), follows ? stored(address).ready : 0);
  const Ticks latency =
      std::max(cycles(outcome.latency_cycles), outcome.walk_cycles != 0 ? costs_.l1_hit : 0);
  Miss miss;
  miss.kind = class_of(outcome.source);
  miss.site = accessed_;
  miss.translation = cycles(outcome.walk_cycles);
  const Ticks translated = start + miss.translation;
  Ticks enters = translated;
  Ticks begin = translated;
  if (outcome.missed_lines != 0) {
    enters = enter_set(address, translated);
    begin = take_miss_buffer(site_of(step), enters, latency);
  }
  const Ticks queued = pass(begin, outcome);
  miss.bandwidth = begin - enters + queued;
  miss.own = minus(latency, costs_.l1_hit) + (enters - translated);
  miss.done = begin + queued + latency;
  const Ticks hit = start + costs_.l1_hit;
  if (last_fill_arrives_ > hit) {
    const Fill& fill = fill_of(line_of(address));
    const Ticks otherwise = std::max(miss.done, hit);
    if (fill.line == line_of(address) && fill.arrives > otherwise) {
      wait_for_fill(miss, fill, otherwise);
    }
  }
  const bool is_late = latency != 0 || miss.translation != 0 || miss.done > hit;
  if (is_late && miss.done > miss_.done) miss_ = miss;  // the last part of a wide load counts
  if (outcome.missed_lines != 0) {
    note_fill({line_of(address), miss.done, miss.bandwidth, miss.kind});
  }
  asked_at_ = translated;
  missed_[next_missed_] = {miss, step.site};
  next_missed_ = (next_missed_ + 1) % missed_.size();
  hold_back(site_of(step));
}

/// The line was asked for before: the load waits for the rest.
void IntervalCore::load_on_its_way(uint32_t number, uint64_t address) {
  advance(number);
  const Step& step = block_->steps[number];
  dispatch(step);
  const Fill& fill = fill_of(line_of(address));
  const Ticks hit = addresses_ready(step) + costs_.l1_hit;
  if (fill.arrives <= std::max(hit, miss_.done)) return;
  miss_ = {};
  miss_.site = accessed_;
  wait_for_fill(miss_, fill, hit);
}

void IntervalCore::wait_for_fill(Miss& miss, const Fill& fill, Ticks otherwise) {
  const Ticks late = fill.arrives - otherwise;
  const Ticks queued = std::min(late, fill.bandwidth);
  miss.bandwidth += queued;
  miss.own += late - queued;
  miss.kind = fill.kind;
  miss.done = fill.arrives;
}

void IntervalCore::note_fill(const Fill& fill) {
  if (fill.line == 0) return;  // unknown
  Fill& known = fill_of(fill.line);
  if (known.line == fill.line && known.arrives >= fill.arrives) return;
  known = fill;
  last_fill_arrives_ = std::max(last_fill_arrives_, fill.arrives);
}

/// They follow the access's own line, and are the last ones in the channels now.
void IntervalCore::prefetch(PrefetchedLines& lines) {
  if (trace_ != nullptr) [[unlikely]]
    trace_->prefetch(lines);
  Ticks behind_shared = 0;
  Ticks behind_memory = 0;
  while (lines.count != 0) {
    const PrefetchedLines::Line& one = lines.lines[--lines.count];
    const bool is_shared = one.source != DataSource::l2;
    const bool is_memory = one.source == DataSource::memory;
    Ticks free = asked_at_;
    if (is_shared) free = std::max(free, minus(shared_.free, behind_shared += shared_.line));
    if (is_memory) free = std::max(free, minus(memory_.free, behind_memory += memory_.line));
    note_fill(
        {one.line, free + cycles(one.latency_cycles), free - asked_at_, class_of(one.source)});
  }
}

void IntervalCore::note_stored(uint64_t address, uint32_t bytes) {
  for (uint64_t word = word_of(address); word <= word_of(address + bytes - 1); ++word) {
    Stored& known = stored(word * 8);
    const bool is_under_way = known.word == word && known.leaves > time();
    const int before = is_under_way ? known.bytes | known.older : 0;
    known = last_stored_;
    known.word = word;
    known.bytes = bytes_in_word(word, address, bytes);
    known.older = static_cast<uint8_t>(before & ~known.bytes);
  }
}

/// The stores that have not left at `at` and wrote these bytes.
IntervalCore::Source IntervalCore::find_source(uint64_t address, uint32_t bytes, Ticks at) {
  Source source;
  for (uint64_t word = word_of(address); word <= word_of(address + bytes - 1); ++word) {
    const Stored& known = stored(word * 8);
    const int wanted = bytes_in_word(word, address, bytes);
    const bool is_pending = known.word == word && known.leaves > at;
    const int last = is_pending ? known.bytes : 0;
    const int older = is_pending ? known.older : 0;
    const uint32_t store = (wanted & (last | older)) == 0 ? 0 : known.store;
    const bool has_all = (wanted & ~last) == 0 || (wanted & ~older) == 0;
    const bool is_first = word == word_of(address);
    source.is_refused |= (store != 0 && !has_all) || (!is_first && store != source.store);
    if (is_first)
      source.is_start = std::countr_zero(unsigned(last)) == std::countr_zero(unsigned(wanted));
    if (store == 0) continue;
    source.store = store;
    source.ready = std::max(source.ready, known.ready);
    source.leaves = std::max(source.leaves, known.leaves);
  }
  return source;
}

/// A hit in L1D that a store before it has to do with, or one at the same place of another page.
void IntervalCore::load_stored(uint32_t number, uint64_t address, uint32_t bytes, bool is_part) {
  advance(number);
  const Step& step = block_->steps[number];
  dispatch(step);
  const Ticks addressed = addresses_ready(step);
  const Ticks hit = addressed + costs_.l1_hit;
  Source source = find_source(address, bytes, addressed);
  if (is_part) {
    const Source before = is_of(part_before_, number) ? part_before_.source : Source();
    source.is_refused |= before.is_refused || before.store != source.store;
    source.ready = std::max(source.ready, before.ready);
    source.leaves = std::max(source.leaves, before.leaves);
  }
  part_before_ = {uops_, number, source};
  if (source.store != 0 || source.is_refused) {
    load_from(source, hit, settings_.renamed_memory && step.renames && bytes >= 4);
    return;
  }
  const Stored& known = stored(address);
  // A store that has just retired is still there for about as long as it costs.
  if (known.word != word_of(address) && known.leaves + costs_.alias > addressed) {
    const Ticks done = hit + costs_.alias;
    if (done > miss_.done) {
      miss_ = {
          .done = done, .own = costs_.alias, .kind = CycleClass::load_alias, .site = accessed_};
    }
  } else if (is_on_its_way(address)) {
    load_on_its_way(number, address);
  }
}

/// A store that wrote all of it hands its value over, or the load waits until the stores have left.
void IntervalCore::load_from(const Source& source, Ticks hit, bool is_renamed) {
  Miss miss;
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
void IntervalCore::wait_for_store(const Store& store) {
  if (store.leaves <= time()) return;
  const Ticks begin = time();
  while (waiting_count_ != 0 && waiting_[first_waiting_].done <= store.retires) {
    wait_for_oldest();
    pop_waiting();
  }
  sites_[store.site].busy.store_queue_full += store.leaves - begin;
  stall(store.site, CycleClass::store_saturation, store.leaves);
}

void IntervalCore::store(uint32_t number, PackedOutcome packed, uint64_t address, uint32_t bytes,
                         Site site) {
  if (trace_ != nullptr) [[unlikely]]
    trace_->store(number, packed, address, bytes, site);
  accessed_ = site;
  advance(number);
  const Step& step = block_->steps[number];
  dispatch(step);
  Store& slot = stores_[next_store_];
  next_store_ = next_store_ + 1 == stores_.size() ? 0 : next_store_ + 1;
  wait_for_store(slot);
  const Ticks addressed = addresses_ready(step);
  Ticks owned = addressed;  // when the line is here to be written
  bool moves_lines = false;
  if (!packed.plain_hit()) {
    const Outcome outcome = packed;
    moves_lines = outcome.missed_lines != 0 || outcome.shared_lines != 0;
    const Ticks latency = cycles(outcome.latency_cycles);
    owned += cycles(outcome.walk_cycles);
    if (outcome.missed_lines != 0) owned = enter_set(address, owned);
    if (outcome.missed_lines != 0 || outcome.upgraded)
      owned = take_miss_buffer(site_of(step), owned, latency);
    asked_at_ = owned;
    const Ticks queued = pass(owned, outcome);
    owned += queued + latency;
    if (outcome.missed_lines != 0) {
      note_fill({line_of(address), owned, queued, class_of(outcome.source)});
    }
  }
  if (last_fill_arrives_ > owned && is_on_its_way(address)) {
    owned = std::max(owned, fill_of(line_of(address)).arrives);
  }
  Ticks value = operands_ready(step);  // is there
  if (step.is_load) {
    value =
        std::max(value, miss_.done != 0 ? miss_.done : addressed + costs_.l1_hit) + step.latency;
  }
  slot.site = site_of(step);
  slot.retires = std::max({retires_, addressed, value});
  slot.leaves = std::max({last_store_leaves_ + kTicksPerCycle, owned, slot.retires});
  last_store_leaves_ = slot.leaves;
  last_stored_.ready = value;
  last_stored_.leaves = slot.leaves;
  ++last_stored_.store;
  note_stored(address, bytes);
  if (moves_lines) hold_back(site_of(step));
}

void IntervalCore::spend_microcode(Site site, Ticks ticks) {
  if (trace_ != nullptr) [[unlikely]]
    trace_->spend_microcode(site, ticks);
  stall(site, CycleClass::microcode, time() + ticks);
}

void IntervalCore::fetch_missed(Site site, Outcome outcome) {
  const Ticks ahead = std::min(costs_.fetch_queue, time() - front_end_since_);
  const Ticks late =
      cycles(uint64_t{outcome.latency_cycles} + outcome.walk_cycles) + pass(time(), outcome);
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
  while (waiting_count_ != 0 && waiting_[first_waiting_].done <= resolved_) {
    wait_for_oldest();
    pop_waiting();
  }
  if (resolved_ <= time()) return;
  // A load that the ring has not, since an older one takes longer.
  const Missed* last = nullptr;
  for (const Missed& one : missed_) {
    const bool is_before = one.miss.done > time() && one.miss.done <= resolved_;
    if (is_before && (last == nullptr || one.miss.done > last->miss.done)) last = &one;
  }
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

void IntervalCore::taken(Site site) {
  if (trace_ != nullptr) [[unlikely]]
    trace_->taken(site);
  stall(site, CycleClass::instruction_starvation, taken_at_ + kTicksPerCycle);
  taken_at_ = time();
}

}  // namespace culprit::simulate
