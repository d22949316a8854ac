// The way of any access: translation, first level, what a miss brings in, prefetchers. The frequent
// case has been tried before (usual_access.h).

#include <algorithm>

#include "simulate/machine/hierarchy.h"
#include "simulate/machine/private_caches.h"

namespace culprit::simulate {
namespace {

constexpr uint32_t kMostBytes = 4096;  // of an access; the rest is not looked at

/// An access, or the part of it that lies in one line. Passed in two registers.
struct Part {
  uint64_t address = 0;
  Site site = 0;
  uint16_t bytes = 0;
  bool store = false;

  [[nodiscard]] uint64_t line(const CoreState& core) const { return address >> core.line_shift; }
  [[nodiscard]] uint8_t offset(const CoreState& core) const {
    return static_cast<uint8_t>(address & core.line_mask);
  }
  [[nodiscard]] Origin origin(const CoreState& core, LineUse use) const {
    return {site, use, core.thread};
  }
  [[nodiscard]] LineRequest request(const CoreState& core) const {
    return {.line = line(core),
            .origin = origin(core, store ? LineUse::store : LineUse::load),
            .offset = offset(core),
            .bytes = static_cast<uint8_t>(bytes),
            .write = store};
  }
};
static_assert(sizeof(Part) == 16);

Part whole_of(uint64_t address, uint32_t bytes, Site site, bool is_store) {
  return {address, site, static_cast<uint16_t>(std::clamp(bytes, 1U, kMostBytes)), is_store};
}

/// A page walk reads one entry per level; those above the last are usually near.
uint32_t walk_cycles(const TlbSettings& tlb, bool huge) {
  const uint32_t upper_levels = huge ? 2 : 3;
  return upper_levels * tlb.walk_level_cycles + tlb.walk_last_cycles;
}

[[gnu::noinline]] PackedOutcome translate_fully(CoreState& core, Tlb& first, uint64_t address) {
  const bool huge = core.is_huge(address);
  const uint64_t page = page_key(address, huge);
  const uint64_t now = ++core.clock;
  if (first.use(page, now)) return PackedOutcome();
  const TlbSettings& tlb = core.machine.tlb;
  const uint32_t second = tlb.second_latency_cycles;
  Outcome outcome;
  if (core.stlb.use(page, now)) {
    outcome.translation = TlbLookup::second_level;
    outcome.walk_cycles = static_cast<uint16_t>(second);
  } else {
    outcome.translation = TlbLookup::walk;
    outcome.walk_cycles = static_cast<uint16_t>(second + walk_cycles(tlb, huge));
  }
  return outcome;
}

inline PackedOutcome translate(CoreState& core, Tlb& first, uint64_t address) {
  Tlb::Entry* const translation = find_translation(first, address);
  if (translation == nullptr) return translate_fully(core, first, address);
  translation->used = ++core.clock;
  return PackedOutcome();
}

void train_prefetchers(CoreState& core, Part part) {
  core.prefetched.count = 0;
  if (core.writes_whole_line) return;
  PrefetchList lines;
  core.stream.train(part.line(core), lines);
  const Origin origin = part.request(core).origin;
  for (uint32_t i = 0; i < lines.count; ++i) prefetch_into_l2(core, lines.lines[i], origin);
  if (core.moves_lines) return;
  lines.count = 0;
  core.stride.train(part.address, core.instruction != 0 ? core.instruction : part.site, lines);
  for (uint32_t i = 0; i < lines.count; ++i) prefetch_into_l1d(core, lines.lines[i], origin);
}

/// The line of `slot` is written: other cores give it up, the directory learns of it.
PackedOutcome write_line(CoreState& core, Part part, Slot slot) {
  const uint8_t flags = core.l1d.cache.flags_at(slot);
  PackedOutcome outcome;
  if ((flags & kWritable) == 0) {
    const bool asked = core.shared.upgrade(core, part.request(core));
    Outcome upgrade;
    upgrade.upgraded = true;
    upgrade.latency_cycles = core.latency_of(asked ? DataSource::other_core_clean : DataSource::l3);
    outcome = upgrade;
  } else if ((flags & kNoted) == 0) {
    core.shared.note_written(part.line(core));
  }
  core.l1d.cache.set_flags(slot, kWritten);
  const Slot below = core.l2.cache.find(part.line(core));
  if (below != kNoSlot) core.l2.cache.set_flags(below, kWritable | kNoted);
  return outcome;
}

/// Lines that an access has moved: what is counted now, without what was before it.
class LinesMoved {
 public:
  explicit LinesMoved(const Traffic& traffic)
      : traffic_(traffic), shared_(traffic.shared), memory_(traffic.memory) {}
  [[nodiscard]] uint8_t shared() const {
    return static_cast<uint8_t>(std::min<uint64_t>(traffic_.shared - shared_, 255));
  }
  [[nodiscard]] uint8_t memory() const {
    return static_cast<uint8_t>(std::min<uint64_t>(traffic_.memory - memory_, 15));
  }

 private:
  const Traffic& traffic_;
  uint64_t shared_;
  uint64_t memory_;
};

constexpr Outcome kSampledOut{.sampled_out = true};

/// What the first use of a line is that a prefetcher brought in.
PackedOutcome first_use_of(const LinesMoved& moved) {
  Outcome outcome;
  outcome.prefetched = true;
  outcome.shared_lines = moved.shared();
  outcome.memory_lines = moved.memory() & 15;
  return outcome;
}

PackedOutcome missed(const CoreState& core, const Brought& brought, const LinesMoved& moved) {
  Outcome outcome;
  outcome.source = brought.source;
  outcome.missed_lines = 1;
  outcome.shared_lines = moved.shared();
  outcome.memory_lines = moved.memory() & 15;
  outcome.prefetched = brought.prefetched;
  outcome.latency_cycles = core.latency_of(brought.source);
  return outcome;
}

/// The line is not in L1D.
template <bool kRecorded>
[[gnu::noinline]] PackedOutcome miss_l1d(CoreState& core, Part part) {
  const LinesMoved moved(core.traffic);
  const LineRequest request = part.request(core);
  const Brought brought = bring_line(core, request);
  const auto flags = static_cast<uint8_t>(brought.flags | (part.store ? kDirty : 0));
  const Slot slot = fill_l1d(core, request, flags);
  // Asked for to be written, it is the core's own; L2 may have had it so without having written it.
  if (part.store && (flags & kNoted) == 0) write_line(core, part, slot);
  if constexpr (kRecorded) {
    TenureTable::touch_first(core.l1d.tenures[slot], part.offset(core), part.bytes);
  }
  train_prefetchers(core, part);
  return missed(core, brought, moved);
}

/// The line is in `slot`.
template <bool kRecorded>
[[gnu::noinline]] PackedOutcome hit_l1d(CoreState& core, Part part, Slot slot) {
  const LinesMoved moved(core.traffic);
  core.l1d.cache.use(slot, ++core.clock);
  const uint8_t flags = core.l1d.cache.flags_at(slot);
  const bool first_use = (flags & kPrefetched) != 0;
  core.l1d.cache.clear_flags(slot, kPrefetched);
  PackedOutcome outcome;
  if (part.store && (flags & kWritten) != kWritten) outcome = write_line(core, part, slot);
  if constexpr (kRecorded) {
    core.l1d.touch(slot, part.offset(core), part.bytes, part.site,
                   core.sample.stratum_of(part.line(core)), first_use);
  }
  if (!first_use) return outcome;
  train_prefetchers(core, part);
  return outcome | first_use_of(moved);
}

template <bool kRecorded>
inline PackedOutcome access_part(CoreState& core, Part part) {
  const PackedOutcome translated = translate(core, core.dtlb, part.address);
  if (!core.sample.holds(part.line(core))) return translated | kSampledOut;
  const Slot slot = core.l1d.find_likely(part.line(core));
  if (slot == kNoSlot) return translated | miss_l1d<kRecorded>(core, part);
  return translated | hit_l1d<kRecorded>(core, part, slot);
}

/// The lines after one that was not there, within its page.
void prefetch_code(CoreState& core, Part part) {
  const uint64_t line = part.line(core);
  const uint32_t page_shift = kPrefetchPageShift - core.line_shift;
  const Origin origin = part.origin(core, LineUse::fetch);
  for (uint64_t next = line + 1; next <= line + core.machine.prefetch.code_lines; ++next) {
    if (next >> page_shift == line >> page_shift) prefetch_into_l1i(core, next, origin);
  }
}

PackedOutcome miss_l1i(CoreState& core, Part part) {
  const LinesMoved moved(core.traffic);
  LineRequest request = part.request(core);
  request.tracked = core.l2.cache.present();
  request.origin = part.origin(core, LineUse::fetch);
  const Brought brought = bring_line(core, request);
  const Slot slot = fill_l1i(core, request, 0);
  if (core.l1i.recorded()) {
    TenureTable::touch_first(core.l1i.tenures[slot], part.offset(core), part.bytes);
  }
  prefetch_code(core, part);
  return missed(core, brought, moved);
}

PackedOutcome hit_l1i(CoreState& core, Part part, Slot slot) {
  const LinesMoved moved(core.traffic);
  core.l1i.cache.use(slot, ++core.clock);
  const bool first_use = (core.l1i.cache.flags_at(slot) & kPrefetched) != 0;
  core.l1i.cache.clear_flags(slot, kPrefetched);
  if (core.l1i.recorded()) {
    core.l1i.touch(slot, part.offset(core), part.bytes, part.site,
                   core.sample.stratum_of(part.line(core)), first_use);
  }
  if (!first_use) return PackedOutcome();
  prefetch_code(core, part);
  return first_use_of(moved);
}

PackedOutcome fetch_part(CoreState& core, Part part) {
  const PackedOutcome translated = translate(core, core.itlb, part.address);
  if (!core.sample.holds(part.line(core))) return translated | kSampledOut;
  const Slot slot = core.l1i.find_likely(part.line(core));
  return translated | (slot == kNoSlot ? miss_l1i(core, part) : hit_l1i(core, part, slot));
}

/// The part has just been fetched. Its next run is a usual one, unless something happens.
void note_use(CoreState& core, const CodePart& part) {
  const Slot slot = core.l1i.guess(part.address >> core.line_shift);
  const Tlb::Entry* const translation = find_translation(core.itlb, part.address);
  const bool is_there = core.l1i.cache.holds(slot, part.address >> core.line_shift);
  if (!is_there || translation == nullptr) return;
  // What was prefetched for it may have begun an epoch after its own line was used.
  const bool is_used = !core.l1i.recorded() || core.l1i.ages.is_used(core.l1i.tenures[slot]);
  core.code_uses.note(part, {.page = translation->page,
                             .epoch = is_used ? core.code_uses.epoch() : 0,
                             .slot = slot,
                             .translation = core.itlb.number_of(*translation)});
}

void join(Outcome& whole, const Outcome& part) {
  whole.source = std::max(whole.source, part.source);
  whole.translation = std::max(whole.translation, part.translation);
  whole.missed_lines = static_cast<uint8_t>(whole.missed_lines + part.missed_lines);
  whole.shared_lines =
      static_cast<uint8_t>(std::min<unsigned>(whole.shared_lines + part.shared_lines, 255));
  whole.memory_lines = std::min(whole.memory_lines + part.memory_lines, 15) & 15;
  whole.prefetched |= part.prefetched;
  whole.upgraded |= part.upgraded;
  whole.sampled_out |= part.sampled_out;
  whole.latency_cycles = std::max(whole.latency_cycles, part.latency_cycles);
  whole.walk_cycles = static_cast<uint16_t>(whole.walk_cycles + part.walk_cycles);
}

/// Does an access of several lines one by one. It is cut at the end of the address space.
template <class DoPart>
Outcome split(CoreState& core, Part whole, DoPart do_part) {
  Outcome outcome;
  uint32_t left = whole.bytes;
  do {
    Part part = whole;
    part.bytes = static_cast<uint16_t>(
        std::min<uint64_t>(left, core.line_mask + 1 - (part.address & core.line_mask)));
    join(outcome, do_part(core, part));
    whole.address += part.bytes;
    left -= part.bytes;
  } while (left > 0 && whole.address != 0);
  outcome.crosses_line = true;
  return outcome;
}

inline bool in_one_line(const CoreState& core, Part part) {
  return part.offset(core) + part.bytes <= core.line_mask + 1;
}

template <bool kRecorded>
[[gnu::noinline]] Outcome access_parts(CoreState& core, Part whole) {
  return split(core, whole, access_part<kRecorded>);
}

}  // namespace

template <Locality kLocality>
PackedOutcome access_unusual(CoreState& core, uint64_t address, uint32_t bytes, AccessType kind,
                             Site site) {
  constexpr bool kRecorded = kLocality != Locality::off;
  if (core.mailbox.has_messages()) handle_messages(core);
  const Part whole = whole_of(address, bytes, site, kind == AccessType::store);
  if (in_one_line(core, whole)) [[likely]]
    return access_part<kRecorded>(core, whole);
  return access_parts<kRecorded>(core, whole);
}

PackedOutcome fetch_unusual(CoreState& core, const CodePart& part) {
  const PackedOutcome outcome = fetch(core, part.address, part.bytes, part.site);
  note_use(core, part);
  return outcome;
}

PackedOutcome fetch(CoreState& core, uint64_t address, uint32_t bytes, Site site) {
  if (core.mailbox.has_messages()) handle_messages(core);
  const Part whole = whole_of(address, bytes, site, false);
  if (in_one_line(core, whole)) return fetch_part(core, whole);
  return split(core, whole, fetch_part);
}

template <Locality kLocality>
void access_more(CoreState& core, uint64_t address, uint32_t bytes) {
  if constexpr (kLocality == Locality::off) return;
  const Slot slot = core.l1d.find_likely(address >> core.line_shift);
  if (slot == kNoSlot) return;  // another core has taken it meanwhile
  const auto offset = static_cast<uint32_t>(address & core.line_mask);
  TenureTable::touch_first(core.l1d.tenures[slot], offset, bytes);
}

template PackedOutcome access_unusual<Locality::off>(CoreState&, uint64_t, uint32_t, AccessType,
                                                     Site);
template PackedOutcome access_unusual<Locality::l1>(CoreState&, uint64_t, uint32_t, AccessType,
                                                    Site);
template PackedOutcome access_unusual<Locality::all>(CoreState&, uint64_t, uint32_t, AccessType,
                                                     Site);
template void access_more<Locality::off>(CoreState&, uint64_t, uint32_t);
template void access_more<Locality::l1>(CoreState&, uint64_t, uint32_t);
template void access_more<Locality::all>(CoreState&, uint64_t, uint32_t);

Outcome access(CoreState& core, uint64_t address, uint32_t bytes, AccessType kind, Site site) {
  return core.locality == Locality::off ? access<Locality::off>(core, address, bytes, kind, site)
                                        : access<Locality::all>(core, address, bytes, kind, site);
}

}  // namespace culprit::simulate
