#pragma once

// What is known of the cells of a scan beside their costs: which are done and what became of the
// others, what their texts and code say, and whether the file is whole.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attribute/code_index.h"
#include "scan/cells.h"
#include "scan/costs.h"

namespace culprit::scan {

/// One thing that cells have in common: a build error of all sizes is told once.
struct CellProblem {
  std::string state;    // "build failed", "crashed", "missing", "not as expected", ...
  std::string message;  // its first line; "" if there is nothing to say
  std::string details;  // all of it, of the first cell
  std::vector<std::string> cells;
};

/// The state of cells that were measured, and break an expectation or a rule of kernels.
inline constexpr std::string_view kUnexpected = "not as expected";

struct CampaignStatus {
  std::string plan;
  std::string file;
  std::string label;
  size_t cells = 0;
  size_t done = 0;
  size_t failed = 0;
  size_t changed = 0;
  size_t missing = 0;
  size_t unexpected = 0;  // of those done, cells that are not as expected
  std::vector<CellProblem> problems;
  std::vector<std::string> undecided;  // rules of kernels that could not be checked, and why

  /// Adds a cell to the problem that others have, or begins a new one.
  void add(const std::string& cell, std::string_view state, const std::string& message);
};

/// `limit`: of lines; 0: all.
std::string print_status_text(const CampaignStatus& status, size_t limit);
/// Schema: culprit-scan-status-1
std::string print_status_json(const CampaignStatus& status);

/// A line that cells have, of what is known of them or of the code that their iterations execute.
struct FoundLine {
  std::string field;  // "build", "remark", "code", ...
  std::string text;
  std::vector<std::string> cells;
};

/// Lines that hold the words, whatever their case. `chosen`: which of the cells to look at.
std::vector<FoundLine> find_lines(const std::vector<Cell>& cells,
                                  const std::vector<std::optional<CellCosts>>& costs,
                                  const std::vector<size_t>& chosen, const std::string& words,
                                  CodeIndex& code);
std::string print_found_text(const std::string& words, const std::vector<FoundLine>& lines,
                             size_t limit);
/// Schema: culprit-scan-find-1
std::string print_found_json(const std::string& words, const std::vector<FoundLine>& lines);

struct Verification {
  std::string file;
  size_t cells = 0;
  size_t measured = 0;
  std::vector<CellProblem> problems;  // each of one cell
};

/// What is incomplete or contradicts itself.
Verification verify_cells(const std::vector<Cell>& cells,
                          const std::vector<std::optional<CellCosts>>& costs, CodeIndex& code);
std::string print_verification_text(const Verification& verification, size_t limit);
/// Schema: culprit-scan-verify-1
std::string print_verification_json(const Verification& verification);

}  // namespace culprit::scan
