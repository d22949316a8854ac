#include "collect/regions/region_rows.h"

#include "model/region_words.h"
#include "openmp/region_kinds.h"

namespace culprit {

RegionId RegionRows::intern(const Region& row, Profile& profile) {
  const auto [at, is_new] = rows_.try_emplace(row, RegionId(profile.regions.size()));
  if (is_new) profile.regions.push_back(row);
  return at->second;
}

RegionId RegionRows::find(const RegionProcess& process, uint32_t path, const Locate& locate,
                          Profile& profile) {
  if (path == 0 || path >= process.paths.size()) return {};
  const std::pair key(process.name, path);
  if (const auto known = ids_.find(key); known != ids_.end()) return known->second;
  const RegionPath& from = process.paths[path];
  Region row;
  row.parent = find(process, from.parent, locate, profile);  // a smaller number
  row.kind = profile.strings.intern(openmp::kind_word(from.kind));
  row.name =
      profile.strings.intern(from.name.empty() ? openmp::detail_word(from.detail) : from.name);
  if (from.name.empty()) row.site = locate(from.site);  // else it is the name that counts
  const RegionId id = intern(row, profile);
  ids_.emplace(key, id);
  return id;
}

RegionId RegionRows::find_waiting(RegionId region, Profile& profile) {
  if (region.is_all()) return region;
  if (openmp::only_waits(profile.strings.text(profile.regions[region.value].kind))) return region;
  Region row;
  row.kind = profile.strings.intern(region::kWaiting);
  row.name = profile.strings.intern("");
  row.parent = region;
  return intern(row, profile);
}

RegionId RegionRows::find_not_known(Profile& profile) {
  Region row;
  row.kind = profile.strings.intern(region::kNotKnown);
  row.name = profile.strings.intern("");
  return intern(row, profile);
}

}  // namespace culprit
