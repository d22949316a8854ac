#pragma once

// The state of a scan's cells: which are done, what became of the others, and which of those that
// were measured break an expectation or a rule of kernels.

#include <cstddef>
#include <string>

#include "base/result.h"
#include "cli/options/scan_options.h"
#include "scan/run/run_scan.h"

namespace culprit {

/// The setup file that a command names, with what this machine has for it.
/// Errors: as scan::read_setting() and scan::read_expectations()
Result<scan::ScanSetting> read_scan_setting(const ScanCommand& command);

/// Cells that break expectations or print something else than with another setup; and those that
/// break rules of kernels, which may be meant.
struct BrokenCells {
  size_t unexpected = 0;
  size_t advice = 0;
};

/// How many the cells of a label have.
Result<BrokenCells> count_broken(const scan::Plan& plan, const std::string& path,
                                 const std::string& label);

}  // namespace culprit
