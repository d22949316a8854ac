#pragma once

// The cells of a scan that a profile holds, with what an iteration of each costs.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "scan/cells.h"
#include "scan/costs.h"
#include "scan/quantities.h"
#include "session/profile_view.h"

namespace culprit {

/// `costs` is parallel to `cells`.
struct ScanCells {
  std::vector<scan::Cell> cells;
  std::vector<std::optional<scan::CellCosts>> costs;
  std::vector<scan::Preset> presets;

  [[nodiscard]] scan::Quantities quantities(const Profile& profile) const {
    return {profile, cells, presets};
  }
};

enum class WhichCells : uint8_t { of_label, of_last_label, all };

/// None, if the profile is of no scan or has no such label.
/// Errors: the installation's file of presets cannot be read
Result<ScanCells> read_scan_cells(const ProfileView& view, scan::CostDetail detail,
                                  WhichCells which, const std::string& label = "");

/// Quantities with names of their own; none where the installation has no such file.
Result<std::vector<scan::Preset>> read_scan_presets();

/// All that says what the code is that cells executed.
FactsLookup scan_code_facts(const ProfileView& view);

}  // namespace culprit
