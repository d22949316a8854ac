#include "simulate/machine/shared_level.h"

#include "simulate/machine/core_state.h"
#include "simulate/machine/private_caches.h"

namespace culprit::simulate {
namespace {

/// Lines of 256 MB, in all slices.
constexpr size_t kSharedLostLines = size_t{1} << 22;

}  // namespace

SharedLevel::SharedLevel(const MachineModel& machine, Locality locality)
    : inclusion_(machine.l3.inclusion),
      cache_(machine.l3, machine.line_bytes),
      slices_(std::make_unique<Slice[]>(kSlices)) {
  if (locality != Locality::all || !cache_.present()) return;
  tenures_ = ZeroedArray<LineTenure>(cache_.lines());
  for (size_t i = 0; i < kSlices; ++i) {
    slices_[i].ages = LineAges(std::max<uint64_t>(cache_.lines() / kSlices, 1));
    slices_[i].lost = LostLines(kSharedLostLines / kSlices);
  }
}

SharedLevel::Locked::Locked(SharedLevel& level, uint64_t line) : slice_(&level.slice_of(line)) {
  if (!level.alone_) lock_ = std::unique_lock(slice_->lock);
}

void SharedLevel::add_core(CoreState& core) {
  const std::lock_guard lock(cores_mutex_);
  CHECK(core.number == core_count_ && core.number < kMostCores);
  cores_[core.number].store(&core);
  if (++core_count_ == 2) {
    begin_directory(*cores_[0]);
    alone_ = false;
  }
}

void SharedLevel::begin_directory(const CoreState& only) {
  for (const PrivateLevel* level : {&only.l1d, &only.l2}) {
    level->cache.for_each_line([&](Slot slot, uint64_t line) {
      Entry& entry = Locked(*this, line)->directory[line];
      entry.sharers = bit_of(only);
      entry.exclusive = true;
      entry.modified |= (level->cache.flags_at(slot) & kNoted) != 0;
    });
  }
}

uint64_t SharedLevel::bit_of(const CoreState& core) {
  return uint64_t{1} << core.number % 64;
}

/// Cores whose bits are the same (beyond 64) cannot be told apart: each of them gets the
/// message, and those that do not have the line ignore it.
void SharedLevel::tell(uint64_t sharers, const CoreState& from, LineRequest request,
                       CoherenceMessage::Kind kind) {
  const CoherenceMessage message{kind, request.line, request.origin,
                                 ByteMask::of(request.offset, request.bytes)};
  const uint32_t count = core_count_.load();
  for (uint64_t left = sharers; left != 0; left &= left - 1) {
    for (auto number = static_cast<uint32_t>(__builtin_ctzll(left)); number < count; number += 64) {
      CoreState* core = cores_[number].load();
      if (core != &from || kind == CoherenceMessage::Kind::back_invalidate)
        core->mailbox.post(message);
    }
  }
}

/// A line that one core may write has to be asked for, even if the L3 has a copy of it.
DataSource SharedLevel::find_source(const Entry& entry, uint64_t others, bool in_cache) {
  if (others != 0 && entry.modified) return DataSource::other_core_modified;
  if (others != 0 && (entry.exclusive || !in_cache)) return DataSource::other_core_clean;
  return in_cache ? DataSource::l3 : DataSource::memory;
}

/// Settles with the other cores that have the line. Returns lines written to memory.
uint8_t SharedLevel::hand_over(Entry& entry, const CoreState& core, LineRequest request,
                               Slot slot) {
  const uint64_t others = entry.sharers & ~bit_of(core);
  uint8_t written = 0;
  if (request.write) {
    if (others != 0) tell(others, core, request, CoherenceMessage::Kind::invalidate);
    entry = {bit_of(core), true, true};
    return 0;
  }
  if (others != 0 && entry.exclusive) {
    tell(others, core, request, CoherenceMessage::Kind::downgrade);
    if (entry.modified) {  // what the reader gets is written back on the way
      if (slot != kNoSlot) cache_.set_flags(slot, kDirty);
      written = slot == kNoSlot ? 1 : 0;
    }
  }
  entry = {others | bit_of(core), others == 0, false};
  return written;
}

/// The only core has nobody to settle with.
LineReply SharedLevel::request_alone(CoreState& core, LineRequest request) {
  LineReply reply;
  reply.flags = request.write ? kWritable | kNoted : kWritable;
  const Slot slot = cache_.find(request.line);
  if (slot != kNoSlot) {
    reply.source = DataSource::l3;
    take_from_cache(slice_of(request.line), core, request, slot, false, reply);
    return reply;
  }
  reply.memory_lines = 1;
  if (cache_.present() && inclusion_ != Inclusion::victim) {
    reply.memory_lines = static_cast<uint8_t>(1 + fill(slice_of(request.line), core, request, 0));
  }
  return reply;
}

LineReply SharedLevel::request(CoreState& core, LineRequest request) {
  if (alone_) return request_alone(core, request);
  const Locked slice(*this, request.line);
  LineReply reply;
  Entry untracked;
  Entry& entry = request.tracked ? slice->directory[request.line] : untracked;
  const uint64_t others = entry.sharers & ~bit_of(core);
  const Slot slot = cache_.find(request.line);
  reply.source = find_source(entry, others, slot != kNoSlot);
  if (others != 0 && (request.write || entry.exclusive)) ++core.traffic.taken_from_others;
  reply.memory_lines = hand_over(entry, core, request, slot);
  if (request.write) {
    reply.flags = kWritable | kNoted;
  } else if (others == 0) {
    reply.flags = kWritable;
  }
  // `entry` may move from here on.
  if (slot != kNoSlot) {
    take_from_cache(*slice, core, request, slot, others != 0, reply);
  } else if (reply.source == DataSource::memory) {
    ++reply.memory_lines;
    if (cache_.present() && inclusion_ != Inclusion::victim) {
      reply.memory_lines =
          static_cast<uint8_t>(reply.memory_lines + fill(*slice, core, request, 0));
    }
  }
  return reply;
}

void SharedLevel::take_from_cache(Slice& slice, CoreState& core, LineRequest request, Slot slot,
                                  bool others, LineReply& reply) {
  if (inclusion_ == Inclusion::victim && !others) {
    // The line moves: its tenure goes on in the private caches, unseen from here.
    if (recorded()) {
      if (!request.prefetch && tenures_[slot].uses == 0) tenures_[slot].uses = 1;
      slice.ages.remove(tenures_[slot]);
      core.l3_table_of(request.line).end(tenures_[slot], TenureTable::End::cut);
    }
    if ((cache_.remove(slot).flags & kDirty) != 0) reply.flags |= kDirty;
    return;
  }
  cache_.use(slot, ++slice.clock);
  if (!recorded() || request.prefetch) return;
  slice.ages.use(tenures_[slot]);
  core.l3_table_of(request.line).count_use(tenures_[slot], request.origin.site());
}

uint8_t SharedLevel::fill(Slice& slice, CoreState& core, LineRequest request, uint8_t flags) {
  const Slot slot = cache_.find_victim(request.line);
  const uint8_t written = evict(slice, core, slot, request.origin);
  cache_.fill(request.line, slot, flags, ++slice.clock);
  if (recorded()) {
    // A victim cache gets what others evict: nobody asks it for that.
    tenures_[slot] = TenureTable::begin(request.origin, request.prefetch);
    if (inclusion_ == Inclusion::victim) tenures_[slot].uses = 0;
    slice.ages.fill(tenures_[slot], false);
    core.l3_table_of(request.line)
        .add_refetch(slice.lost.take(request.line, place_of(request.line)), request.origin);
  }
  return written;
}

/// The cores that may have the line, as bits.
uint64_t SharedLevel::find_sharers(const Slice& slice, const CoreState& core, uint64_t line) const {
  if (alone_) {
    const bool here = core.l1d.cache.find(line) != kNoSlot || core.l2.cache.find(line) != kNoSlot ||
                      core.l1i.cache.find(line) != kNoSlot;
    return here ? bit_of(core) : 0;
  }
  const auto found = slice.directory.find(line);
  return found == slice.directory.end() ? 0 : found->second.sharers;
}

/// Empties a slot for a line of `by`. Returns lines written to memory.
uint8_t SharedLevel::evict(Slice& slice, CoreState& core, Slot slot, Origin by) {
  if (cache_.empty_at(slot)) return 0;
  const Evicted evicted = cache_.remove(slot);
  LineTenure seen = recorded() ? tenures_[slot] : LineTenure();
  bool cut = false;
  if (const uint64_t sharers = find_sharers(slice, core, evicted.line); sharers != 0) {
    // What other cores saw of the line is theirs, and cannot be looked at from here.
    cut = (sharers & ~bit_of(core)) != 0;
    if (recorded() && (sharers & bit_of(core)) != 0) {
      const LineTenure mine = peek_tenure(core, evicted.line);
      seen.touched.add(mine.touched);
      seen.accessed_bytes += mine.accessed_bytes;
    }
    if (inclusion_ == Inclusion::inclusive) {
      tell(sharers, core, {.line = evicted.line, .origin = by},
           CoherenceMessage::Kind::back_invalidate);
      slice.directory.erase(evicted.line);
    }
  }
  if (recorded()) {
    const bool by_capacity = slice.ages.evict(seen);
    const LineEdgeKind kind =
        by_capacity ? LineEdgeKind::evict_by_capacity : LineEdgeKind::evict_by_conflict;
    // What a victim cache gets has been in use all along: it is not fetched again.
    if (inclusion_ != Inclusion::victim) {
      slice.lost.note(evicted.line, place_of(evicted.line), seen.origin, by_capacity);
    }
    TenureTable& table = core.l3_table_of(evicted.line);
    table.add_edge({seen.origin, by, kind}, 1);
    table.end(seen, cut ? TenureTable::End::cut : TenureTable::End::evicted);
  }
  return (evicted.flags & kDirty) != 0 ? 1 : 0;
}

bool SharedLevel::upgrade(CoreState& core, LineRequest request) {
  if (alone_) return false;
  const Locked slice(*this, request.line);
  Entry& entry = slice->directory[request.line];
  const uint64_t others = entry.sharers & ~bit_of(core);
  if (others != 0) {
    tell(others, core, request, CoherenceMessage::Kind::invalidate);
    ++core.traffic.taken_from_others;
  }
  entry = {bit_of(core), true, true};
  return others != 0;
}

void SharedLevel::note_written(uint64_t line) {
  if (alone_) return;
  const Locked slice(*this, line);
  const auto found = slice->directory.find(line);
  if (found != slice->directory.end()) found.value().modified = true;
}

/// `core` has the line no more. Whether others have.
bool SharedLevel::drop_sharer(Slice& slice, const CoreState& core, uint64_t line) {
  const auto found = slice.directory.find(line);
  if (found == slice.directory.end()) return false;
  found.value().sharers &= ~bit_of(core);
  if (found.value().sharers != 0) return true;
  slice.directory.erase(found);
  return false;
}

uint8_t SharedLevel::give_back(CoreState& core, uint64_t line, uint8_t flags,
                               const LineTenure* tenure) {
  const bool dirty = (flags & kDirty) != 0;
  const bool has_news = dirty || tenure != nullptr || inclusion_ == Inclusion::victim;
  if (alone_ && !has_news) return 0;
  const Locked slice(*this, line);
  const bool shared = !alone_ && drop_sharer(*slice, core, line);
  if (!has_news) return 0;
  Slot slot = cache_.find(line);
  uint8_t written = 0;
  if (slot == kNoSlot && inclusion_ == Inclusion::victim && cache_.present() && !shared) {
    const Origin origin = tenure == nullptr ? Origin() : tenure->origin;
    written = fill(*slice, core, {.line = line, .origin = origin}, dirty ? kDirty : 0);
    slot = cache_.find(line);
  } else if (slot != kNoSlot) {
    if (dirty) cache_.set_flags(slot, kDirty);
  } else if (dirty) {
    written = 1;
  }
  if (slot != kNoSlot && recorded() && tenure != nullptr) {
    tenures_[slot].touched.add(tenure->touched);
    tenures_[slot].accessed_bytes += tenure->accessed_bytes;
  }
  return written;
}

void SharedLevel::merge_tenure(uint64_t line, const LineTenure& seen) {
  const Locked slice(*this, line);
  const Slot slot = cache_.find(line);
  if (slot == kNoSlot || !recorded()) return;
  tenures_[slot].touched.add(seen.touched);
  tenures_[slot].accessed_bytes += seen.accessed_bytes;
}

void SharedLevel::finish(CoreState& core) {
  if (!recorded()) return;
  cache_.for_each_line([&](Slot slot, uint64_t line) {
    if (!core.sample.holds(line)) return;
    core.l3_table_of(line).end(tenures_[slot], TenureTable::End::left_at_end);
    cache_.remove(slot);
  });
}

}  // namespace culprit::simulate
