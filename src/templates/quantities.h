#pragma once

// Quantities: what an event counts, in words that do not depend on the CPU. A row of a template
// that has one can be validated: kernels cause it so many times (room `validate`). The software
// PMU's events are called by them.

#include <array>
#include <string_view>

namespace culprit {

inline constexpr std::array<std::string_view, 22> kQuantities = {
    "cycles", "instructions", "branches", "branches-taken", "branch-misses", "calls",
    // Accesses, and what of them the levels of caches did not have: LLC-loads are those that L2 did
    // not have, LLC-load-misses came from memory.
    "L1-dcache-loads", "L1-dcache-stores", "L1-dcache-load-misses", "L1-dcache-store-misses",
    "LLC-loads", "LLC-stores", "LLC-load-misses", "LLC-store-misses", "L1-icache-load-misses",
    // Walks of page tables: no TLB had the page.
    "dTLB-load-misses", "dTLB-store-misses", "iTLB-load-misses",
    // Loads that waited since stores before them could not hand their value over.
    "refused-forwards",
    // Lines that another core had changed.
    "other-core-modified-loads", "other-core-modified-stores", "divisions"};

constexpr bool is_quantity(std::string_view word) {
  for (const std::string_view one : kQuantities) {
    if (one == word) return true;
  }
  return false;
}

}  // namespace culprit
