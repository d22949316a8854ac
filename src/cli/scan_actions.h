#pragma once

// The actions of `culprit scan`. Those that run print by themselves, and return the exit status.

#include <string>

#include "base/result.h"
#include "cli/options/scan_options.h"

namespace culprit {

int run_scan_one(const ScanCommand& command);
int run_scan_init(const ScanCommand& command);

/// Cells of a setup file.
int run_scan_cells(const ScanCommand& command);
int run_scan_forget(const ScanCommand& command);
Result<std::string> answer_scan_status(const ScanCommand& command);
/// Cells that are run for two machines, each under a label of its own.
int run_scan_predict(const ScanCommand& command);
Result<std::string> answer_predict(const ScanCommand& command, const std::string& from_label,
                                   const std::string& to_label);

/// A table, a plot, or the best setups.
Result<std::string> answer_scan_question(const ScanCommand& command);
/// Why two cells differ, or the curves of two setups.
Result<std::string> answer_explain(const ScanCommand& command);
Result<std::string> answer_curves(const ScanCommand& command);

/// Several measurements in one file, and what is known of cells.
int run_scan_diff(const ScanCommand& command);
int run_scan_trend(const ScanCommand& command);
int run_scan_find(const ScanCommand& command);
int run_scan_verify(const ScanCommand& command);

/// The best flags.
int run_scan_search(const ScanCommand& command);

}  // namespace culprit
