// The way of one access: translation, first level, what a miss brings in, prefetchers. The
// frequent cases come first and are short; the rest is in functions of their own.

#include <algorithm>

#include "simulate/machine/hierarchy.h"
#include "simulate/machine/private_caches.h"

namespace culprit::simulate {
namespace {

/// The part of an access that lies in one line.
struct Part {
  uint64_t address = 0;
  uint32_t bytes = 0;
  Site site = 0;
  bool store = false;

  [[nodiscard]] uint64_t line(const CoreState& core) const { return address >> core.line_shift; }
  [[nodiscard]] ByteMask mask(const CoreState& core) const {
    return ByteMask::of(static_cast<uint32_t>(address & core.line_mask), bytes);
  }
};

/// A page walk reads one entry per level; those above the last are usually near.
uint32_t walk_cycles(const TlbSettings& tlb, bool huge) {
  const uint32_t upper_levels = huge ? 2 : 3;
  return upper_levels * tlb.walk_level_cycles + tlb.walk_last_cycles;
}

/// The access leaves the page of the one before.
[[gnu::noinline]] void translate_page(CoreState& core, Tlb& first, uint64_t address,
                                      Outcome& outcome) {
  const bool huge = core.huge_pages.holds(address);
  const uint64_t page = page_key(address, huge);
  if (first.use(page)) return;
  const TlbSettings& tlb = core.machine.tlb;
  if (core.stlb.use(page)) {
    outcome.translation = Translation::second_level;
    outcome.walk_cycles = static_cast<uint16_t>(tlb.second_latency_cycles);
    return;
  }
  outcome.translation = Translation::walk;
  outcome.walk_cycles = static_cast<uint16_t>(tlb.second_latency_cycles + walk_cycles(tlb, huge));
}

/// Whether the first level translates the address, in the frequent cases; if not, translate()
/// is to be asked.
inline bool is_translated(CoreState& core, Tlb& first, uint64_t address, uint64_t& last_page) {
  const uint64_t page = page_key(address, false);
  if (page == last_page) return true;
  if (core.huge_pages.any() || !first.use_likely(page)) return false;
  last_page = page;
  return true;
}

inline void translate(CoreState& core, Tlb& first, uint64_t address, uint64_t& last_page,
                      Outcome& outcome) {
  if (is_translated(core, first, address, last_page)) return;
  last_page = page_key(address, false);
  translate_page(core, first, address, outcome);
}

uint16_t latency_of(const Machine& machine, DataSource source) {
  switch (source) {
    case DataSource::l1:
      return 0;
    case DataSource::l2:
      return static_cast<uint16_t>(machine.l2.latency_cycles);
    case DataSource::l3:
      return static_cast<uint16_t>(machine.l3.latency_cycles);
    case DataSource::other_core_clean:
      return static_cast<uint16_t>(machine.memory.other_core_clean_cycles);
    case DataSource::other_core_modified:
      return static_cast<uint16_t>(machine.memory.other_core_modified_cycles);
    case DataSource::memory:
      break;
  }
  return static_cast<uint16_t>(machine.memory.latency_cycles);
}

void train_prefetchers(CoreState& core, const Part& part) {
  PrefetchList lines;
  core.stream.train(part.line(core), lines);
  for (uint32_t i = 0; i < lines.count; ++i) prefetch_into_l2(core, lines.lines[i], part.site);
  lines.count = 0;
  core.stride.train(part.address, part.site, lines);
  for (uint32_t i = 0; i < lines.count; ++i) prefetch_into_l1d(core, lines.lines[i], part.site);
}

/// The line of `slot` is written: other cores give it up, the directory learns of it.
void write_line(CoreState& core, const Part& part, uint8_t& flags, Outcome& outcome) {
  if ((flags & kWritable) == 0) {
    const bool asked = core.shared.upgrade(
        core, {.line = part.line(core), .site = part.site, .bytes = part.mask(core)});
    outcome.upgraded = true;
    outcome.latency_cycles =
        latency_of(core.machine, asked ? DataSource::other_core_clean : DataSource::l3);
  } else if ((flags & kNoted) == 0) {
    core.shared.note_written(part.line(core));
  }
  flags |= kWritable | kDirty | kNoted;
  const Slot below = core.l2.cache.find(part.line(core));
  if (below != kNoSlot) core.l2.cache.flags_at(below) |= kWritable | kNoted;
}

Slot miss_l1d(CoreState& core, const Part& part, Outcome& outcome) {
  const LineRequest request{
      .line = part.line(core), .site = part.site, .bytes = part.mask(core), .write = part.store};
  const Brought brought = bring_line(core, request);
  outcome.missed_lines = 1;
  outcome.source = brought.source;
  outcome.prefetched = brought.prefetched;
  outcome.latency_cycles = latency_of(core.machine, brought.source);
  return fill_l1d(core, request, brought.flags);
}

constexpr uint8_t kWritten = kWritable | kDirty | kNoted;

inline void set_last_line(CoreState& core, uint64_t line, uint8_t flags) {
  core.last_line = {line, (flags & kWritten) == kWritten ? line : kNoLine};
}

template <bool kRecorded>
inline void touch_hit(CoreState& core, const Part& part, Slot slot) {
  if constexpr (kRecorded) {
    Tenure& tenure = core.l1d.tenures[slot];
    core.l1d.ages.use(tenure);
    core.l1d.table.touch(tenure, part.mask(core), part.bytes, part.site);
    core.last_tenure = &tenure;
  }
}

struct Lines {
  uint64_t shared, memory;
};
Lines lines_moved(const CoreState& core) {
  return {core.traffic.shared, core.traffic.memory};
}

void note_lines(const CoreState& core, const Lines& before, Outcome& outcome) {
  const Lines now = lines_moved(core);
  outcome.shared_lines = static_cast<uint8_t>(std::min<uint64_t>(now.shared - before.shared, 255));
  outcome.memory_lines = std::min<uint64_t>(now.memory - before.memory, 15) & 15;
}

/// A miss, or a hit that has to do more than note its use.
template <bool kRecorded>
[[gnu::noinline]] Outcome access_fully(CoreState& core, const Part& part, Slot slot,
                                       Outcome outcome) {
  const Lines before = lines_moved(core);
  const uint64_t line = part.line(core);
  const bool hit = slot != kNoSlot;
  if (!hit) slot = miss_l1d(core, part, outcome);
  uint8_t& flags = core.l1d.cache.flags_at(slot);
  const bool first_use = !hit || (flags & kPrefetched) != 0;
  outcome.prefetched |= hit && first_use;
  flags &= static_cast<uint8_t>(~kPrefetched);
  if (part.store && (flags & kWritten) != kWritten) write_line(core, part, flags, outcome);
  if (!first_use) {
    touch_hit<kRecorded>(core, part, slot);
  } else if constexpr (kRecorded) {
    Tenure& tenure = core.l1d.tenures[slot];
    if (hit) core.l1d.ages.use(tenure);
    TenureTable::touch_first(tenure, part.mask(core), part.bytes);
    core.last_tenure = &tenure;
  }
  set_last_line(core, line, flags);
  if (!hit || outcome.prefetched) {
    train_prefetchers(core, part);
    note_lines(core, before, outcome);
  }
  return outcome;
}

/// Not all of it is the frequent case: another page, a sample of sets.
template <bool kRecorded>
[[gnu::noinline]] Outcome access_elsewhere(CoreState& core, const Part& part) {
  Outcome outcome;
  translate(core, core.dtlb, part.address, core.last_data_page, outcome);
  const uint64_t line = part.line(core);
  if (!core.sample.holds(line)) {
    outcome.sampled_out = true;
    // The next accesses to this line need not come here to hear the same.
    if constexpr (!kRecorded) core.last_line = {line, line};
    return outcome;
  }
  const Slot slot = core.l1d.cache.find(line);
  if (slot != kNoSlot) core.l1d.cache.use(line, slot);
  return access_fully<kRecorded>(core, part, slot, outcome);
}

template <bool kRecorded>
inline PackedOutcome access_part(CoreState& core, const Part& part) {
  const bool is_usual =
      !core.is_sampled && is_translated(core, core.dtlb, part.address, core.last_data_page);
  if (!is_usual) [[unlikely]]
    return access_elsewhere<kRecorded>(core, part);
  const uint64_t line = part.line(core);
  const Slot slot = core.l1d.cache.find(line);
  if (slot == kNoSlot) return access_fully<kRecorded>(core, part, slot, Outcome());
  core.l1d.cache.use(line, slot);
  const uint8_t flags = core.l1d.cache.flags_at(slot);
  if ((flags & kPrefetched) != 0 || (part.store && (flags & kWritten) != kWritten)) {
    return access_fully<kRecorded>(core, part, slot, Outcome());
  }
  touch_hit<kRecorded>(core, part, slot);
  set_last_line(core, line, flags);
  return PackedOutcome();
}

Slot miss_l1i(CoreState& core, const Part& part, Outcome& outcome) {
  const LineRequest request{.line = part.line(core),
                            .site = part.site,
                            .bytes = part.mask(core),
                            .tracked = core.l2.cache.present()};
  const Brought brought = bring_line(core, request);
  outcome.missed_lines = 1;
  outcome.source = brought.source;
  outcome.prefetched = brought.prefetched;
  outcome.latency_cycles = latency_of(core.machine, brought.source);
  const Slot slot = fill_l1i(core, request, 0);
  if (core.l1i.recorded()) {
    TenureTable::touch_first(core.l1i.tenures[slot], request.bytes, part.bytes);
  }
  return slot;
}

void touch_code(CoreState& core, const Part& part, Slot slot, bool is_first_use) {
  Tenure& tenure = core.l1i.tenures[slot];
  core.l1i.ages.use(tenure);
  if (is_first_use) {
    TenureTable::touch_first(tenure, part.mask(core), part.bytes);
  } else {
    core.l1i.table.touch(tenure, part.mask(core), part.bytes, part.site);
  }
}

/// The lines after one that was not there, within its page.
void prefetch_code(CoreState& core, const Part& part) {
  const uint64_t line = part.line(core);
  const uint32_t page_shift = kPrefetchPageShift - core.line_shift;
  for (uint64_t next = line + 1; next <= line + core.machine.prefetch.code_lines; ++next) {
    if (next >> page_shift == line >> page_shift) prefetch_into_l1i(core, next, part.site);
  }
}

/// A first use of a line in L1I, or one that is not there, or a page or set that is not usual.
[[gnu::noinline]] Outcome fetch_fully(CoreState& core, const Part& part) {
  Outcome outcome;
  translate(core, core.itlb, part.address, core.last_code_page, outcome);
  const uint64_t line = part.line(core);
  if (!core.sample.holds(line)) {
    outcome.sampled_out = true;
    return outcome;
  }
  const Lines before = lines_moved(core);
  Slot slot = core.l1i.cache.find(line);
  if (slot != kNoSlot) {
    core.l1i.cache.use(line, slot);
    outcome.prefetched = (core.l1i.cache.flags_at(slot) & kPrefetched) != 0;
    core.l1i.cache.flags_at(slot) = 0;
    if (core.l1i.recorded()) touch_code(core, part, slot, outcome.prefetched);
  } else {
    slot = miss_l1i(core, part, outcome);
  }
  core.last_fetched_line = line;
  if (outcome.missed_lines != 0 || outcome.prefetched) {
    prefetch_code(core, part);
    note_lines(core, before, outcome);
  }
  return outcome;
}

inline PackedOutcome fetch_part(CoreState& core, const Part& part) {
  const bool is_usual =
      !core.is_sampled && is_translated(core, core.itlb, part.address, core.last_code_page);
  const uint64_t line = part.line(core);
  const Slot slot = is_usual ? core.l1i.cache.find(line) : kNoSlot;
  if (slot == kNoSlot || core.l1i.cache.flags_at(slot) != 0) return fetch_fully(core, part);
  core.l1i.cache.use(line, slot);
  if (core.l1i.recorded()) touch_code(core, part, slot, false);
  core.last_fetched_line = line;
  return PackedOutcome();
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

/// Does an access of several lines one by one. It is cut at 4096 bytes, and at the end of the
/// address space.
template <class DoPart>
Outcome split(CoreState& core, Part whole, DoPart do_part) {
  Outcome outcome;
  uint32_t left = std::min(whole.bytes, 4096U);
  do {
    Part part = whole;
    part.bytes = static_cast<uint32_t>(
        std::min<uint64_t>(left, core.line_mask + 1 - (part.address & core.line_mask)));
    join(outcome, do_part(core, part));
    whole.address += part.bytes;
    left -= part.bytes;
  } while (left > 0 && whole.address != 0);
  outcome.crosses_line = true;
  return outcome;
}

inline bool in_one_line(const CoreState& core, uint64_t address, uint32_t bytes) {
  return (address & core.line_mask) + bytes <= core.line_mask + 1;
}

template <bool kRecorded>
[[gnu::noinline]] Outcome access_parts(CoreState& core, uint64_t address, uint32_t bytes,
                                       bool is_store, Site site) {
  return split(core, {address, bytes, site, is_store},
               [](CoreState& of, const Part& one) { return access_part<kRecorded>(of, one); });
}

[[gnu::noinline]] Outcome fetch_parts(CoreState& core, uint64_t address, uint32_t bytes,
                                      Site site) {
  return split(core, {address, bytes, site, false}, fetch_part);
}

[[gnu::noinline]] void read_mail(CoreState& core) {
  deliver_mail(core);
}

}  // namespace

template <Locality kLocality>
PackedOutcome access_slowly(CoreState& core, uint64_t address, uint32_t bytes, AccessKind kind,
                            Site site) {
  constexpr bool kRecorded = kLocality != Locality::off;
  if (core.mailbox.has_mail()) [[unlikely]]
    read_mail(core);
  const bool is_store = kind == AccessKind::store;
  bytes = std::max(bytes, 1U);
  if (!in_one_line(core, address, bytes)) [[unlikely]]
    return access_parts<kRecorded>(core, address, bytes, is_store, site);
  return access_part<kRecorded>(core, {address, bytes, site, is_store});
}

template <Locality kLocality>
PackedOutcome fetch_slowly(CoreState& core, uint64_t address, uint32_t bytes, Site site) {
  if (core.mailbox.has_mail()) [[unlikely]]
    read_mail(core);
  bytes = std::max(bytes, 1U);
  if (!in_one_line(core, address, bytes)) [[unlikely]]
    return fetch_parts(core, address, bytes, site);
  return fetch_part(core, {address, bytes, site, false});
}

template PackedOutcome access_slowly<Locality::off>(CoreState&, uint64_t, uint32_t, AccessKind,
                                                    Site);
template PackedOutcome access_slowly<Locality::l1>(CoreState&, uint64_t, uint32_t, AccessKind,
                                                   Site);
template PackedOutcome access_slowly<Locality::all>(CoreState&, uint64_t, uint32_t, AccessKind,
                                                    Site);
template PackedOutcome fetch_slowly<Locality::off>(CoreState&, uint64_t, uint32_t, Site);
template PackedOutcome fetch_slowly<Locality::l1>(CoreState&, uint64_t, uint32_t, Site);
template PackedOutcome fetch_slowly<Locality::all>(CoreState&, uint64_t, uint32_t, Site);

Outcome access(CoreState& core, uint64_t address, uint32_t bytes, AccessKind kind, Site site) {
  return core.locality == Locality::off ? access<Locality::off>(core, address, bytes, kind, site)
                                        : access<Locality::all>(core, address, bytes, kind, site);
}

Outcome fetch(CoreState& core, uint64_t address, uint32_t bytes, Site site) {
  return fetch<Locality::all>(core, address, bytes, site);
}

}  // namespace culprit::simulate
