#pragma once

// Causes of a difference between two cells: kinds of instructions of which one cell executes more
// than the other, said in the words of what compilers do: packed or scalar, rolled or unrolled,
// called or inlined, spilled. They are ranked by how many instructions of the difference they stand
// for; divisions count for what they take. They are what the code shows, not what a compiler had in
// mind. Where cycles are modelled, what the core waited for stands among them (cycle_causes.h).

#include <string>
#include <vector>

#include "model/profile.h"
#include "scan/code_pairs.h"
#include "scan/costs.h"
#include "scan/place_table.h"
#include "scan/remarks.h"

namespace culprit::scan {

struct Cause {
  std::string name;           // for programs: "scalar", "rolled", "calls", ...
  std::string text;           // a sentence
  std::string place;          // the user's line where it is largest: "kernel.cc:12"; "" if nowhere
  double weight = 0;          // instructions per iteration that it stands for, or cycles
  bool is_of_cycles = false;  // of a class of modelled cycles
};

/// One of two cells that are compared.
struct Side {
  const CellCosts* costs;
  const PlaceTable* lines;  // by the user's own lines
  std::vector<Remark> remarks;
};

/// "instructions" or "cycles": what its weight is in.
inline const char* unit_of(const Cause& cause) {
  return cause.is_of_cycles ? "cycles" : "instructions";
}

/// What stands for most of the difference first. `code`: what both execute.
std::vector<Cause> find_causes(const Profile& profile, const Side& a, const Side& b,
                               const std::vector<CodePair>& code);

}  // namespace culprit::scan
