#pragma once

// run_scan(): makes a file with all cells of a plan.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "scan/cells.h"
#include "scan/run/cell_worker.h"

namespace culprit::scan {

struct ScanChoice {
  std::vector<std::string> setups;  // patterns, as is_wanted() takes them; none: all
  std::vector<std::string> programs;
};

struct ScanOptions {
  ScanSetting setting;
  ScanChoice choice;
  std::string output;
  unsigned jobs = 0;          // cells at once; 0: as many as there are CPUs
  bool retry_failed = false;  // cells that failed, though nothing has changed
};

struct ScanProgress {
  size_t done = 0;  // of `total`, now
  size_t failed = 0;
  size_t total = 0;
  double elapsed_s = 0;
  size_t timing = 0;  // cells that are being timed, together
};

struct ScanOutcome {
  size_t kept = 0;  // that were there, and nothing had changed
  size_t done = 0;
  size_t failed = 0;  // of those done
  size_t unsure = 0;  // of which native runs tell less than Plan::native_percent()
  size_t left = 0;    // not begun, or not ended, when it was interrupted
  bool is_interrupted = false;
  double elapsed_s = 0;
};

/// Errors: the file cannot be read; as parse_plan()
Result<Plan> read_plan(const std::string& path);

/// What a plan names: the machine. `machines`: the folder of machine files.
/// Errors: as find_machine()
Result<ScanSetting> make_setting(Plan plan, const std::string& machines,
                                 const std::string& calibration);

/// Both in one.
Result<ScanSetting> read_setting(const std::string& path, const std::string& machines,
                                 const std::string& calibration);

/// The cells that the plan says, of the programs that are there.
/// Errors: a pattern that no file matches; as make_cells()
Result<std::vector<PlannedCell>> find_planned_cells(const ScanSetting& setting,
                                                    const ScanChoice& choice);

enum class CellState : uint8_t { done, failed, changed, missing };

/// What is there of each planned cell, parallel to `planned`; of the others nothing is told.
/// `output`: the scan's file, which need not be there.
Result<std::vector<CellState>> find_states(const ScanSetting& setting,
                                           const std::vector<PlannedCell>& planned,
                                           const std::vector<Cell>& held);

/// Builds and runs what is missing or has changed. `progress` returns false to stop: what is done
/// stays. Cells that fail are told in the outcome, and stand in the file with their message.
/// Errors: the file cannot be written; no cell could be begun
Result<ScanOutcome> run_scan(const ScanOptions& options,
                             const std::function<bool(const ScanProgress&)>& progress);

}  // namespace culprit::scan
