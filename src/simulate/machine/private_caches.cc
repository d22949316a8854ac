#include "simulate/machine/private_caches.h"

namespace culprit::simulate {
namespace {

using End = TenureTable::End;

/// The tenure of the slot's code has all that ran, of which `table` gets the uses.
void collect_code(CoreState& core, Slot slot, TenureTable& table) {
  core.code_uses.collect(slot, [&](Site site, uint32_t bytes, uint64_t runs) {
    if (!core.l1i.recorded()) return;
    core.l1i.tenures[slot].accessed_bytes += runs * bytes;
    table.count_reuse(core.l1i.tenures[slot], site, runs);
  });
}
/// Where the tenure of a line in `slot` belongs, if its set is simulated.
TenureTable& table_of(CoreState& core, PrivateLevel& level, uint64_t line) {
  return level.table_of(core.sample.stratum_of(line));
}
void collect_code(CoreState& core, Slot slot) {
  PrivateLevel& level = core.l1i;
  if (level.cache.empty_at(slot) || !core.sample.holds(level.cache.line_at(slot))) return;
  // Where nothing is recorded there are no tables of random groups, and nobody asks which it is.
  const bool has_tables = level.recorded();
  collect_code(core, slot,
               has_tables ? table_of(core, level, level.cache.line_at(slot)) : level.table);
}

/// What was in a slot. The tenure is the caller's to end, and there until the slot is filled again.
struct Taken {
  Evicted line;
  const LineTenure& tenure;
};
Taken take_out(CoreState& core, PrivateLevel& level, Slot slot) {
  static constexpr LineTenure kNone;
  if (&level == &core.l1i) {
    collect_code(core, slot);
    core.code_uses.forget(slot);
  }
  return {level.cache.remove(slot), level.recorded() ? level.tenures[slot] : kNone};
}

/// Line `line` is replaced by one that `by` brought in.
void end_evicted(CoreState& core, PrivateLevel& level, uint64_t line, const LineTenure& tenure,
                 Origin by) {
  if (!level.recorded()) return;
  TenureTable& table = table_of(core, level, line);
  const bool by_capacity = level.ages.evict(tenure);
  const LineEdgeKind kind =
      by_capacity ? LineEdgeKind::evict_by_capacity : LineEdgeKind::evict_by_conflict;
  level.lost.note(line, line, tenure.origin, by_capacity);
  table.add_edge({tenure.origin, by, kind}, 1);
  table.end(tenure, End::evicted);
}

/// Lost for another reason than the room it took.
void end_lost(CoreState& core, PrivateLevel& level, uint64_t line, const LineTenure& tenure,
              End how) {
  if (!level.recorded()) return;
  level.ages.remove(tenure);
  table_of(core, level, line).end(tenure, how);
}

void merge(LineTenure& into, const LineTenure& seen) {
  into.touched.add(seen.touched);
  into.accessed_bytes += seen.accessed_bytes;
}

void give_back(CoreState& core, const Taken& taken) {
  const bool all = core.locality == Locality::all;
  const bool moves =
      (taken.line.flags & kDirty) != 0 || core.machine.l3.inclusion == Inclusion::victim;
  core.traffic.shared += moves ? 1 : 0;
  core.traffic.memory +=
      core.shared.give_back(core, taken.line.line, taken.line.flags, all ? &taken.tenure : nullptr);
}

/// A line has left L1D: what it has to say goes to L2, or beyond.
void pass_on_from_l1d(CoreState& core, const Taken& taken) {
  const bool dirty = (taken.line.flags & kDirty) != 0;
  core.traffic.written_back_l1 += dirty ? 1 : 0;
  const Slot below = core.l2.cache.find(taken.line.line);
  if (below == kNoSlot) {
    give_back(core, taken);
    return;
  }
  core.l2.cache.set_flags(below, taken.line.flags & (kDirty | kNoted));
  if (core.l2.recorded()) merge(core.l2.tenures[below], taken.tenure);
}

void evict_l1d(CoreState& core, Slot slot, Origin by) {
  if (core.l1d.cache.empty_at(slot)) return;
  const Taken taken = take_out(core, core.l1d, slot);
  end_evicted(core, core.l1d, taken.line.line, taken.tenure, by);
  pass_on_from_l1d(core, taken);
}

void pass_on_from_l1i(CoreState& core, const Taken& taken) {
  const Slot below = core.l2.cache.find(taken.line.line);
  if (below != kNoSlot && core.l2.recorded()) merge(core.l2.tenures[below], taken.tenure);
  if (below == kNoSlot && core.locality == Locality::all) {
    core.shared.merge_tenure(taken.line.line, taken.tenure);
  }
}

void evict_l1i(CoreState& core, Slot slot, Origin by) {
  if (core.l1i.cache.empty_at(slot)) return;
  const Taken taken = take_out(core, core.l1i, slot);
  end_evicted(core, core.l1i, taken.line.line, taken.tenure, by);
  pass_on_from_l1i(core, taken);
}

/// An inclusive L2 loses a line: L1D and L1I lose it, too, while L2 still has it.
void clear_l1(CoreState& core, uint64_t line, Origin by) {
  if (const Slot slot = core.l1d.cache.find(line); slot != kNoSlot) evict_l1d(core, slot, by);
  if (const Slot slot = core.l1i.cache.find(line); slot != kNoSlot) evict_l1i(core, slot, by);
}

/// What L1D and L1I, which still have the line, have seen of it.
LineTenure peek_first_level(CoreState& core, uint64_t line) {
  LineTenure seen;
  for (PrivateLevel* level : {&core.l1d, &core.l1i}) {
    const Slot slot = level->cache.find(line);
    if (slot == kNoSlot || !level->recorded()) continue;
    if (level == &core.l1i) collect_code(core, slot);
    merge(seen, level->tenures[slot]);
  }
  return seen;
}

void evict_l2(CoreState& core, Slot slot, Origin by) {
  if (core.l2.cache.empty_at(slot)) return;
  const uint64_t line = core.l2.cache.line_at(slot);
  if (core.machine.l2.inclusion == Inclusion::inclusive) clear_l1(core, line, by);
  const Taken taken = take_out(core, core.l2, slot);
  const Slot above = core.l1d.cache.find(line);
  LineTenure seen = taken.tenure;
  if (core.l2.recorded()) merge(seen, peek_first_level(core, line));
  end_evicted(core, core.l2, line, seen, by);
  const bool dirty = (taken.line.flags & kDirty) != 0;
  if (above == kNoSlot) {
    core.traffic.written_back_l2 += dirty ? 1 : 0;
    give_back(core, taken);
    return;
  }
  // L1D still has it, and takes over the duty to write it back.
  core.l1d.cache.set_flags(above, taken.line.flags & (kDirty | kNoted));
  if (core.locality == Locality::all) core.shared.merge_tenure(line, taken.tenure);
}

/// Whether all others are a step older now (LineAges).
bool begin_tenure(CoreState& core, PrivateLevel& level, Slot slot, LineRequest request) {
  if (!level.recorded()) return false;
  const uint8_t stratum = core.sample.stratum_of(request.line);
  level.tenures[slot] = TenureTable::begin(request.origin, request.prefetch);
  level.table_of(stratum).add_refetch(level.lost.take(request.line, request.line), request.origin);
  return level.ages.fill(level.tenures[slot], stratum != SetSample::kCertain);
}

void fill_l2(CoreState& core, LineRequest request, uint8_t flags) {
  const Slot slot = core.l2.cache.find_victim(request.line);
  evict_l2(core, slot, request.origin);
  core.l2.cache.fill(request.line, slot, flags, ++core.clock);
  begin_tenure(core, core.l2, slot, request);
}

/// Another core's `message` takes or reads a line whose tenure here is `tenure`.
void note_sharing(TenureTable& table, const LineTenure& tenure, const CoherenceMessage& message) {
  const bool same = tenure.touched.overlaps(message.bytes);
  const LineEdgeKind kind = same ? LineEdgeKind::share_same_bytes : LineEdgeKind::share_other_bytes;
  table.add_edge({tenure.origin, message.by, kind}, 1);
}

/// The line leaves all private caches. Whether it was dirty.
bool remove_line(CoreState& core, const CoherenceMessage& message) {
  const bool shared = message.kind != CoherenceMessage::Kind::back_invalidate;
  uint8_t flags = 0;
  LineTenure all;
  bool noted = !shared;
  for (PrivateLevel* level : {&core.l1d, &core.l2}) {
    const Slot slot = level->cache.find(message.line);
    if (slot == kNoSlot) continue;
    const Taken taken = take_out(core, *level, slot);
    flags |= taken.line.flags;
    merge(all, taken.tenure);
    if (!level->recorded()) continue;
    if (!noted) note_sharing(table_of(core, *level, message.line), taken.tenure, message);
    noted = true;
    LineTenure seen = taken.tenure;
    seen.touched = all.touched;  // of L2, with what L1D saw
    seen.accessed_bytes = all.accessed_bytes;
    end_lost(core, *level, message.line, seen, End::evicted);
  }
  if (shared && core.locality == Locality::all) core.shared.merge_tenure(message.line, all);
  return (flags & kDirty) != 0;
}

void invalidate_line(CoreState& core, const CoherenceMessage& message) {
  remove_line(core, message);
  ++core.traffic.taken_by_others;
}

void back_invalidate_line(CoreState& core, const CoherenceMessage& message) {
  if (remove_line(core, message)) ++core.traffic.memory;
  const Slot code = core.l1i.cache.find(message.line);
  if (code == kNoSlot) return;
  const Taken taken = take_out(core, core.l1i, code);
  end_lost(core, core.l1i, message.line, taken.tenure, End::evicted);
}

void downgrade_line(CoreState& core, const CoherenceMessage& message) {
  bool noted = false;
  for (PrivateLevel* level : {&core.l1d, &core.l2}) {
    const Slot slot = level->cache.find(message.line);
    if (slot == kNoSlot) continue;
    const uint8_t flags = level->cache.flags_at(slot);
    if ((flags & kDirty) != 0 && level->recorded() && !noted) {
      note_sharing(table_of(core, *level, message.line), level->tenures[slot], message);
      noted = true;
    }
    level->cache.clear_flags(slot, kWritable | kDirty | kNoted);
  }
}

/// Forgets the translations of pages that have changed their size.
void drop_translations(CoreState& core) {
  core.page_changes = core.huge_pages.changes();
  core.last_region = ~uint64_t{0};
  for (Tlb* tlb : {&core.itlb, &core.dtlb, &core.stlb}) {
    tlb->drop_if(
        [&](uint64_t address, bool huge) { return core.huge_pages.holds(address) != huge; });
  }
}

Brought bring_from_l2(CoreState& core, LineRequest request, Slot slot) {
  core.l2.cache.use(slot, ++core.clock);
  Brought brought{DataSource::l2, 0, (core.l2.cache.flags_at(slot) & kPrefetched) != 0};
  core.l2.cache.clear_flags(slot, kPrefetched);
  if (core.l2.recorded() && !request.prefetch) {
    core.l2.ages.use(core.l2.tenures[slot]);
    table_of(core, core.l2, request.line).count_use(core.l2.tenures[slot], request.origin.site());
  }
  if (request.write && (core.l2.cache.flags_at(slot) & kWritable) == 0) {
    core.shared.upgrade(core, request);
    core.l2.cache.set_flags(slot, kWritable | kNoted);
  }
  brought.flags = core.l2.cache.flags_at(slot) & (kWritable | kNoted);
  return brought;
}

void note_prefetched(CoreState& core, uint64_t line, DataSource source) {
  core.prefetched.add({line, source, core.latency_of(source)});
}

}  // namespace

void handle_messages(CoreState& core) {
  core.mailbox.take(core.messages);
  if (core.page_changes != core.huge_pages.changes()) drop_translations(core);
  for (const CoherenceMessage& message : core.messages) {
    switch (message.kind) {
      case CoherenceMessage::Kind::invalidate:
        invalidate_line(core, message);
        break;
      case CoherenceMessage::Kind::downgrade:
        downgrade_line(core, message);
        break;
      case CoherenceMessage::Kind::back_invalidate:
        back_invalidate_line(core, message);
        break;
    }
  }
}

Brought bring_line(CoreState& core, LineRequest request) {
  if (const Slot slot = core.l2.cache.find(request.line); slot != kNoSlot) {
    return bring_from_l2(core, request, slot);
  }
  const LineReply reply = core.shared.request(core, request);
  core.traffic.memory += reply.memory_lines;
  ++core.traffic.shared;
  if (core.mailbox.has_messages()) handle_messages(core);  // what an inclusive L3 lost for it
  if (core.l2.cache.present()) fill_l2(core, request, reply.flags);
  return {reply.source, static_cast<uint8_t>(reply.flags & (kWritable | kNoted)), false};
}
Slot fill_l1d(CoreState& core, LineRequest request, uint8_t flags) {
  const Slot slot = core.l1d.cache.find_victim(request.line);
  evict_l1d(core, slot, request.origin);
  core.l1d.cache.fill(request.line, slot, flags, ++core.clock);
  begin_tenure(core, core.l1d, slot, request);
  return slot;
}

Slot fill_l1i(CoreState& core, LineRequest request, uint8_t flags) {
  const Slot slot = core.l1i.cache.find_victim(request.line);
  evict_l1i(core, slot, request.origin);
  core.l1i.cache.fill(request.line, slot, flags, ++core.clock);
  if (begin_tenure(core, core.l1i, slot, request)) core.code_uses.begin_epoch();
  return slot;
}

void prefetch_into_l1d(CoreState& core, uint64_t line, Origin origin) {
  if (!core.sample.holds(line) || core.l1d.cache.find(line) != kNoSlot) return;
  const LineRequest request{.line = line, .origin = origin, .prefetch = true};
  const Brought brought = bring_line(core, request);
  fill_l1d(core, request, brought.flags | kPrefetched);
  note_prefetched(core, line, brought.source);
  ++core.traffic.prefetched_l1;
}

void prefetch_into_l1i(CoreState& core, uint64_t line, Origin origin) {
  if (!core.sample.holds(line) || core.l1i.cache.find(line) != kNoSlot) return;
  const LineRequest request{
      .line = line, .origin = origin, .prefetch = true, .tracked = core.l2.cache.present()};
  bring_line(core, request);
  fill_l1i(core, request, kPrefetched);
  ++core.traffic.prefetched_l1;
}

void prefetch_into_l2(CoreState& core, uint64_t line, Origin origin) {
  if (!core.l2.cache.present()) return prefetch_into_l1d(core, line, origin);
  if (!core.sample.holds(line) || core.l1d.cache.find(line) != kNoSlot) return;
  if (core.l2.cache.find(line) != kNoSlot) return;
  const Brought brought = bring_line(core, {.line = line, .origin = origin, .prefetch = true});
  note_prefetched(core, line, brought.source);
  core.l2.cache.set_flags(core.l2.cache.find(line), kPrefetched);
  ++core.traffic.prefetched_l2;
}

void finish_private(CoreState& core) {
  if (core.mailbox.has_messages()) handle_messages(core);
  for (PrivateLevel* level : {&core.l1d, &core.l1i, &core.l2}) {
    if (!level->recorded()) continue;
    level->cache.for_each_line([&](Slot slot, uint64_t line) {
      if (!core.sample.holds(line)) return;
      const Taken taken = take_out(core, *level, slot);
      end_lost(core, *level, line, taken.tenure, End::left_at_end);
      if (level == &core.l1d) pass_on_from_l1d(core, taken);
      if (level == &core.l1i) pass_on_from_l1i(core, taken);
      if (level == &core.l2) give_back(core, taken);
    });
  }
}

LineTenure peek_tenure(CoreState& core, uint64_t line) {
  LineTenure seen = peek_first_level(core, line);
  const Slot slot = core.l2.recorded() ? core.l2.cache.find(line) : kNoSlot;
  if (slot != kNoSlot) merge(seen, core.l2.tenures[slot]);
  return seen;
}

void begin_thread(CoreState& core, uint8_t thread) {
  core.l1i.cache.for_each_line([&](Slot slot, uint64_t) { collect_code(core, slot); });
  core.thread = thread;
  for (const Level level : {Level::l1d, Level::l1i, Level::l2, Level::l3}) {
    for (uint32_t stratum = 0; stratum < core.strata(level); ++stratum) {
      core.tenures(level, static_cast<uint8_t>(stratum)).set_thread(thread);
    }
  }
}

void note_sample(CoreState& core) {
  core.l1i.cache.for_each_line(
      [&](Slot slot, uint64_t) { collect_code(core, slot, core.l1i.table); });
  for (PrivateLevel* level : {&core.l1d, &core.l1i, &core.l2}) {
    if (!level->recorded()) continue;
    level->ages.set_weight(core.sample.weight());
    level->cache.for_each_line([&](Slot slot, uint64_t line) {
      LineTenure passed_on;
      passed_on.accessed_bytes = level->table.settle_bytes(level->tenures[slot]);
      const Slot below = level == &core.l2 ? kNoSlot : core.l2.cache.find(line);
      if (below != kNoSlot && core.l2.recorded()) {
        merge(core.l2.tenures[below], passed_on);
      } else if (core.locality == Locality::all) {
        core.shared.merge_tenure(line, passed_on);
      }
    });
  }
}

}  // namespace culprit::simulate
