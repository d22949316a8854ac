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

/// Notes a use of a line that has the flags `wanted`, but for cache.order(), which is the caller's:
/// nothing is left to do after its call. Returns its slot; kNoSlot: it is not the frequent case,
/// and nothing was done.
[[gnu::always_inline]] inline Slot use_usual(CoreState& core, Tlb& tlb, PrivateLevel& level,
                                             uint64_t address, uint32_t bytes, uint8_t wanted) {
  const uint64_t line = address >> core.line_shift;
  const auto offset = static_cast<uint32_t>(address & core.line_mask);
  Tlb::Entry* const translation = find_translation(tlb, address);
  const Slot slot = level.guess(line);
  const bool is_usual = translation != nullptr && level.cache.holds(slot, line) &&
                        (level.cache.flags_at(slot) & (wanted | kPrefetched)) == wanted &&
                        offset + bytes <= core.line_mask + 1 && !core.mailbox.has_mail();
  if (!is_usual) [[unlikely]]
    return kNoSlot;
  const uint64_t now = ++core.clock;
  translation->used = now;
  level.cache.date(slot, now);
  return slot;
}

/// Does an access that is a hit with nothing to report; false: it is not, and nothing was done.
template <Locality kLocality>
[[gnu::always_inline]] inline bool access_usual(CoreState& core, uint64_t address, uint32_t bytes,
                                                AccessKind kind, Site site) {
  const uint8_t wanted = kind == AccessKind::store ? kWritten : 0;
  const Slot slot = use_usual(core, core.dtlb, core.l1d, address, bytes, wanted);
  if (slot == kNoSlot) return false;
  if constexpr (kLocality != Locality::off) {
    const auto offset = static_cast<uint32_t>(address & core.line_mask);
    core.l1d.touch(slot, offset, bytes, site);
  }
  core.l1d.cache.order(slot);
  return true;
}

/// The same of a fetch.
[[gnu::always_inline]] inline bool fetch_usual(CoreState& core, uint64_t address, uint32_t bytes,
                                               Site site) {
  const Slot slot = use_usual(core, core.itlb, core.l1i, address, bytes, 0);
  if (slot == kNoSlot) return false;
  if (core.l1i.recorded()) {
    const auto offset = static_cast<uint32_t>(address & core.line_mask);
    core.l1i.touch(slot, offset, bytes, site);
  }
  core.l1i.cache.order(slot);
  return true;
}

/// Any access, and any fetch.
template <Locality kLocality>
PackedOutcome access_unusual(CoreState& core, uint64_t address, uint32_t bytes, AccessKind kind,
                             Site site);
PackedOutcome fetch_unusual(CoreState& core, uint64_t address, uint32_t bytes, Site site);

}  // namespace culprit::simulate
