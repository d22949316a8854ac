#pragma once

// The frequent case of an access and of a fetch, inline where they happen: a hit in a page and a
// line that were used lately, with nothing to do but to note it. All else is in access.cc.

#include "simulate/machine/core_state.h"

namespace culprit::simulate {

/// What a line has that a store finds as it wants it.
inline constexpr uint8_t kWritten = kWritable | kDirty | kNoted;

/// Where the address is translated, if it is where it likely is.
inline Tlb::Entry* find_translation(Tlb& tlb, uint64_t address) {
  Tlb::Entry& small = tlb.find_likely(page_key(address, false));
  if (small.page == page_key(address, false)) [[likely]]
    return &small;
  Tlb::Entry& huge = tlb.find_likely(page_key(address, true));
  return huge.page == page_key(address, true) ? &huge : nullptr;
}

/// The slot that has the line, likely: where the site found its line last, or any did.
template <Locality kLocality>
[[gnu::always_inline]] inline Slot guess_slot(PrivateLevel& level, uint64_t line,
                                              TenureTable::Recent* recent) {
  if constexpr (kLocality == Locality::off) return level.guess(line);
  if (!level.cache.holds(recent->slot, line)) recent->slot = level.guess(line);
  return recent->slot;
}

/// Does an access that is a hit with nothing to report; false: it is not, and nothing was done.
/// `table`: that has the tenure of the line.
template <Locality kLocality>
[[gnu::always_inline]] inline bool access_usual(CoreState& core, uint64_t address, uint32_t bytes,
                                                AccessType kind, Site site, TenureTable& table) {
  constexpr bool kRecorded = kLocality != Locality::off;
  PrivateLevel& level = core.l1d;
  const uint8_t wanted = kind == AccessType::store ? kWritten : 0;
  const uint64_t line = address >> core.line_shift;
  const auto offset = static_cast<uint32_t>(address & core.line_mask);
  TenureTable::Recent* const recent = kRecorded ? &table.find_recent(site) : nullptr;
  Tlb::Entry* const translation = find_translation(core.dtlb, address);
  const Slot slot = guess_slot<kLocality>(level, line, recent);
  const bool is_usual = translation != nullptr && level.cache.holds(slot, line) &&
                        (level.cache.flags_at(slot) & (wanted | kPrefetched)) == wanted &&
                        offset + bytes <= core.line_mask + 1 && !core.mailbox.has_messages();
  if (!is_usual) [[unlikely]]
    return false;
  const uint64_t now = ++core.clock;
  translation->used = now;
  level.cache.date(slot, now);
  if constexpr (kRecorded) {
    LineTenure& tenure = level.tenures[slot];
    level.ages.use(tenure);
    TenureTable::touch_first(tenure, offset, bytes);
    table.count_reuse(tenure, site, *recent);
  }
  level.cache.order(slot);
  return true;
}

template <Locality kLocality>
[[gnu::always_inline]] inline bool access_usual(CoreState& core, uint64_t address, uint32_t bytes,
                                                AccessType kind, Site site) {
  return access_usual<kLocality>(core, address, bytes, kind, site, core.l1d.table);
}

/// Does a fetch whose part is where it was when it ran last. False: it is elsewhere.
[[gnu::always_inline]] inline bool fetch_usual(CoreState& core, const CodePart& part) {
  CodeUses::Use& use = core.code_uses.find(part);
  Tlb::Entry& translation = core.itlb.at(use.translation);
  if (translation.page != use.page || core.mailbox.has_messages()) [[unlikely]]
    return false;
  if (use.epoch != core.code_uses.epoch()) [[unlikely]] {
    use.epoch = core.code_uses.epoch();
    if (core.l1i.recorded()) core.l1i.ages.use(core.l1i.tenures[use.slot]);
  }
  const uint64_t now = ++core.clock;
  translation.used = now;
  ++use.runs;
  core.l1i.cache.use(use.slot, now);
  return true;
}

/// Any access, and any fetch.
template <Locality kLocality>
PackedOutcome access_unusual(CoreState& core, uint64_t address, uint32_t bytes, AccessType kind,
                             Site site);
PackedOutcome fetch_unusual(CoreState& core, const CodePart& part);

}  // namespace culprit::simulate
