#pragma once

// What the tests of this room share: small machines, and accesses in short.

#include <gtest/gtest.h>
#include <memory>

#include "simulate/machine/hierarchy.h"

namespace culprit::simulate {

/// No prefetch, no L2, 64-byte lines, true LRU: what cachegrind simulates.
inline MachineModel plain_machine(uint64_t l1d_bytes, uint32_t l1d_ways, uint64_t l3_bytes,
                                  uint32_t l3_ways) {
  MachineModel machine;
  machine.l1d.size_bytes = l1d_bytes;
  machine.l1d.ways = l1d_ways;
  machine.l2.size_bytes = 0;
  machine.l3.size_bytes = l3_bytes;
  machine.l3.ways = l3_ways;
  machine.prefetch.stream = false;
  machine.prefetch.stride = false;
  return machine;
}

/// L1D 4 lines (2 sets x 2), L2 8 lines (4 x 2), L3 16 lines (8 x 2); no prefetch.
inline MachineModel tiny_machine() {
  MachineModel machine = plain_machine(256, 2, 1024, 2);
  machine.l2.size_bytes = 512;
  machine.l2.ways = 2;
  return machine;
}

inline std::unique_ptr<Hierarchy> make_hierarchy(const MachineModel& machine,
                                                 Locality locality = Locality::off) {
  Result<std::unique_ptr<Hierarchy>> made = Hierarchy::make(machine, {.locality = locality});
  EXPECT_TRUE(made) << made.error().message;
  return std::move(*made);
}

inline Outcome load(CoreState& core, uint64_t address, uint32_t bytes = 8, Site site = 1) {
  return access(core, address, bytes, AccessType::load, site);
}
inline Outcome store(CoreState& core, uint64_t address, uint32_t bytes = 8, Site site = 1) {
  return access(core, address, bytes, AccessType::store, site);
}
inline DataSource load_source(CoreState& core, uint64_t address, Site site = 1) {
  return load(core, address, 8, site).source;
}

}  // namespace culprit::simulate
