#pragma once

// A scan's file, opened, with what its cells cost; and what lists of cells are printed with.

#include <string>

#include "base/result.h"
#include "cli/options/scan_options.h"
#include "session/scan_cells.h"

namespace culprit {

struct OpenScan : ScanCells {
  ProfileView view;

  [[nodiscard]] scan::Quantities quantities() const {
    return ScanCells::quantities(view.profile());
  }
  /// All that says what code is, of images that cells executed.
  [[nodiscard]] FactsLookup code_facts() const { return scan_code_facts(view); }
};

/// Errors: the file cannot be read, or has no such cells
Result<OpenScan> open_scan(const std::string& path, scan::CostDetail detail, WhichCells which,
                           const std::string& label = "");

/// Those of the label that was asked for, or of the last one.
Result<OpenScan> open_scan(const ScanCommand& command, scan::CostDetail detail);

/// Lines of a list, as many as were asked for.
class List {
 public:
  explicit List(size_t limit) : limit_(limit) {}
  void add(const std::string& line);
  [[nodiscard]] std::string text() const;
  [[nodiscard]] size_t size() const { return lines_; }

 private:
  size_t limit_;
  size_t lines_ = 0;
  std::string text_;
};

}  // namespace culprit
