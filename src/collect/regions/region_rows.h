#pragma once

// The rows of a Profile that paths of constructs become: one for each construct below the same
// constructs, whichever process or thread met it.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "collect/regions/region_files.h"
#include "model/profile.h"

namespace culprit {

class RegionRows {
 public:
  using Locate = std::function<Location(RunAddress)>;

  /// The row of a path of the process; none for path 0 and for paths that there are not.
  RegionId find(const RegionProcess& process, uint32_t path, const Locate& locate,
                Profile& profile);
  /// The row of waiting at its beginning or end; itself where there is nothing but waiting in it.
  RegionId find_waiting(RegionId region, Profile& profile);
  /// The row of what nobody knows.
  RegionId find_not_known(Profile& profile);

 private:
  RegionId intern(const Region& row, Profile& profile);

  std::map<Region, RegionId> rows_;                           // without their ends
  std::map<std::pair<std::string, uint32_t>, RegionId> ids_;  // by process and path
};

}  // namespace culprit
