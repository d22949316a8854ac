#pragma once

// Why two cells differ: causes (causes.h), by source line, beside what the compilers said, with the
// code of both side by side.

#include <string>
#include <vector>

#include "attribute/code_index.h"
#include "base/text_style.h"
#include "scan/causes.h"
#include "scan/cells.h"
#include "scan/code_pairs.h"
#include "scan/costs.h"
#include "scan/executed_remarks.h"

namespace culprit::scan {

struct EventDifference {
  std::string name;
  Provenance provenance = Provenance::counted;
  Estimate a;
  Estimate b;
};

struct LineDifference {
  std::string name;
  Estimate a;  // instructions
  Estimate b;
};

struct Explanation {
  CellName a;
  CellName b;
  std::vector<Cause> causes;              // the largest first
  std::vector<EventDifference> events;    // that differ, after the measured time, if there is one
  std::vector<LineDifference> lines;      // that differ
  std::vector<ExecutedRemark> remarks_a;  // of the compilers, about these lines
  std::vector<ExecutedRemark> remarks_b;
  bool has_remarks = false;    // one of the compilers said anything
  std::vector<CodePair> code;  // the lines that differ most first
};

/// Costs are per iteration of both cells. Lines are those of the source, whatever the compilers
/// made of them.
Explanation explain(const Cell& a, const CellCosts& costs_a, const Cell& b,
                    const CellCosts& costs_b, CodeIndex& code);

/// `limit`: of instructions of each side; 0: all.
std::string print_explanation(const Explanation& explanation, size_t limit, const TextStyle& style);
/// Schema: culprit-scan-explain-1
std::string print_explanation_json(const Explanation& explanation);

}  // namespace culprit::scan
