#pragma once

// What a compiler said of a loop, held against what an iteration executed there: code that it
// vectorised may never be entered, or leave most of the work to what is left over at the end.
//
//     kernel.cc:12: loop vectorized using 32 byte vectors      executed: 25 % of the work packed
//
// The work of a line are its floating-point operations; where there are none, the bytes that it
// loads and stores.

#include <optional>
#include <string>
#include <vector>

#include "attribute/code_index.h"
#include "base/text_style.h"
#include "scan/cells.h"
#include "scan/costs.h"
#include "scan/remarks.h"

namespace culprit::scan {

enum class Execution : uint8_t {
  nothing,          // no instruction of these lines belongs to an iteration
  scalar,           // but for vectors that never ran
  packed_accesses,  // vectors are loaded or stored, but nothing computes on them
  mostly_scalar,    // half of the work or more
  packed,
  unknown,  // there is no work by which to tell, or the remark is not of vectors
};

struct ExecutedRemark {
  Remark remark;
  Execution execution = Execution::unknown;
  double instructions = 0;             // of its lines, an iteration's
  std::optional<double> packed_share;  // of the work of its lines; 0 to 1
  bool has_packed_accesses = false;

  /// "executed: only scalar code of it"; "" if there is nothing to say.
  [[nodiscard]] std::string text() const;
};

/// Whether a remark says that code was made to work on vectors.
bool is_vectorised(const Remark& remark);

/// Remarks about one line and about the head of a loop up to two lines above its statements.
/// Errors: none of code whose lines are known; what was inlined counts at each line on its way
std::vector<ExecutedRemark> find_executed(const std::vector<Remark>& remarks,
                                          const CellCosts& costs, CodeIndex& code);

/// All that a compiler did to the loops of one cell, beside what was executed.
std::string print_executed(const Cell& cell, const std::vector<ExecutedRemark>& remarks,
                           const TextStyle& style);
/// Schema: culprit-scan-executed-1
std::string print_executed_json(const Cell& cell, const std::vector<ExecutedRemark>& remarks);

}  // namespace culprit::scan
