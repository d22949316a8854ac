#pragma once

// OpenMP constructs of a simulation → rows of a Profile: Region, the contexts in them, and how
// often each thread executed them (RegionValue, of the event "instructions": what it ran in the
// construct itself).

#include <functional>
#include <map>
#include <vector>

#include "model/builder.h"
#include "simulate/counts_reader.h"

namespace culprit {

class SimulatedRegions {
 public:
  explicit SimulatedRegions(ProfileBuilder& builder) : builder_(builder) {}

  /// An address of the process, in the mapping of that number.
  using Locate = std::function<Location(uint64_t address, uint32_t mapping)>;
  /// Begins a process.
  void begin(const ProcessCounts& counts, const Locate& locate);

  /// Where the thread's counts belong that has this context outside of all regions.
  ContextId context(ContextId outside, const ThreadCounts::RegionRow& region);
  /// What the thread ran there.
  void add(ContextId outside, const ThreadCounts::RegionRow& region, EventId instructions,
           uint64_t value);

 private:
  RegionId intern(const Region& row);

  ProfileBuilder& builder_;
  std::map<Region, RegionId> rows_;
  std::vector<RegionId> ids_;  // by path of the process
};

}  // namespace culprit
