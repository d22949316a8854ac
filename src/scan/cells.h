#pragma once

// The cells that a profile holds, read from the labels of its runs.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/profile.h"
#include "scan/names.h"

namespace culprit::scan {

/// One run of a cell.
struct Point {
  RunId run;
  uint64_t runs = 0;  // the loop count
};

/// Labels that are none of the cell's name: "scan:status", ...
using CellDetails = std::map<std::string, std::string>;

struct Cell {
  CellName name;
  RunId first;                // the one that has the details
  std::vector<Point> points;  // by loop count; none: it was not measured
  CellDetails details;        // of its first run

  [[nodiscard]] const std::string& detail(std::string_view label) const;
  /// The scan in the file that the cell is of; "" of one without a label.
  [[nodiscard]] const std::string& label() const { return detail(kHistoryLabel); }
  [[nodiscard]] bool is_measured() const { return detail(kStatusLabel) == kMeasured; }
  [[nodiscard]] uint64_t iterations_per_run() const;
};

/// Cells stand in the order in which they were first measured; of one that was measured again the
/// latest counts. Cells of one name but of several labels are several.
std::vector<Cell> find_cells(const Profile& profile);

/// "1 cell", "32 cells".
std::string count_cells(size_t cells);

/// "vecadd gcc_O2 1 and 15 more cells"; there is at least one.
std::string name_cells(const std::vector<std::string>& cells);

/// The label of what was measured last.
std::string find_last_label(const std::vector<Cell>& cells);

/// Writes a name into the labels of a run, as find_cells() reads it.
void label_run(StringTable& strings, Run& run, const CellName& name);
void label_run(StringTable& strings, Run& run, std::string_view label, std::string_view value);

}  // namespace culprit::scan
