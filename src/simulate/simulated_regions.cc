#include "simulate/simulated_regions.h"

#include "model/ledger.h"
#include "model/region_words.h"
#include "openmp/region_kinds.h"

namespace culprit {

RegionId SimulatedRegions::intern(const Region& row) {
  std::vector<Region>& regions = builder_.profile().regions;
  const auto [at, is_new] = rows_.try_emplace(row, RegionId(regions.size()));
  if (is_new) regions.push_back(row);
  return at->second;
}

void SimulatedRegions::begin(const ProcessCounts& counts, const Locate& locate) {
  ids_.assign(counts.region_paths.size(), RegionId());
  for (size_t number = 1; number < counts.region_paths.size(); ++number) {
    const counts_file::RegionPath& path = counts.region_paths[number];
    Region row;
    row.kind = builder_.intern(openmp::kind_word(path.kind));
    row.name = builder_.intern(openmp::detail_word(path.detail));
    row.parent = ids_[path.parent];
    if (path.site != 0) row.site = locate(path.site, path.mapping);
    ids_[number] = intern(row);
    Region& kept = builder_.profile().regions[ids_[number].value];
    if (path.end != 0 && kept.end == Location{}) kept.end = locate(path.end, path.end_mapping);
  }
  Ledger& ledger = builder_.profile().ledger;
  if (counts.lost_region_paths > 0) ledger.add(ledger::kRegionsLost, counts.lost_region_paths);
  if (counts.lost_region_parts > 0) ledger.add(ledger::kRegionPartsLost, counts.lost_region_parts);
}

ContextId SimulatedRegions::context(ContextId outside, const ThreadCounts::RegionRow& region) {
  if (region.path == 0) return outside;
  const Region& row = builder_.profile().regions[ids_[region.path].value];
  Context fields = builder_.profile().contexts[outside.value];
  fields.region = ids_[region.path];
  if (region.is_waiting && !openmp::only_waits(builder_.profile().strings.text(row.kind))) {
    Region waiting;
    waiting.kind = builder_.intern(region::kWaiting);
    waiting.name = builder_.intern("");
    waiting.parent = fields.region;
    fields.region = intern(waiting);
  }
  return builder_.intern_context(fields);
}

void SimulatedRegions::add(ContextId outside, const ThreadCounts::RegionRow& region,
                           EventId instructions, uint64_t value) {
  if (region.path == 0 || region.is_waiting) return;
  const auto add_row = [&](std::string_view part, EventId event, uint64_t amount) {
    RegionValue row;
    row.context = outside;
    row.region = ids_[region.path];
    row.part = builder_.intern(part);
    row.event = event;
    row.executions = region.executions;
    row.value = amount;
    builder_.profile().region_values.push_back(row);
  };
  add_row(region::kBody, instructions, value);
  if (region.pieces > 0) add_row(region::kPieces, EventId(), region.pieces);
}

}  // namespace culprit
