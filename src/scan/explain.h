#pragma once

// Why two cells differ: by kinds of instructions, by source line, beside what the compilers said.
//
// A cause is a kind of instructions of which one cell executes more than the other, said in the
// words of what compilers do: packed or scalar, rolled or unrolled, called or inlined, spilled.
// Causes are ranked by how many instructions of the difference they stand for; divisions count for
// what they take. They are what the code shows, not what a compiler had in mind.

#include <string>
#include <vector>

#include "scan/cells.h"
#include "scan/costs.h"

#include "attribute/code_index.h"
#include "base/text_style.h"

namespace culprit::scan {

struct Cause {
  std::string name;   // for programs: "scalar", "rolled", "calls", ...
  std::string text;   // a sentence
  std::string place;  // where the difference is largest: "kernel.cc:12"; "" if nowhere
  double weight = 0;  // instructions per iteration that it stands for
};

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
  std::vector<Cause> causes;            // the largest first
  std::vector<EventDifference> events;  // that differ
  std::vector<LineDifference> lines;    // that differ
  std::string remarks_a;                // of the compilers
  std::string remarks_b;
  bool has_mix = false;  // kinds of instructions are known
};

/// Per iteration of both. Lines are those of the source, whatever the compilers made of them.
Explanation explain(const Cell& a, const CellCosts& costs_a, const Cell& b,
                    const CellCosts& costs_b, CodeIndex& code);

std::string print_explanation(const Explanation& explanation, const TextStyle& style);
/// Schema: culprit-scan-explain-1
std::string print_explanation_json(const Explanation& explanation);

}  // namespace culprit::scan
