#pragma once

// Where the cycles of one function went, by region: each innermost loop, and the rest of it.
//
// Samples land behind what was waited for, and behind a mispredicted branch in another block:
// within a loop that evens out, so its cycles are firm where those of a block or an instruction are
// a range. Where the branch that ends a loop is mispredicted the cycles are those of what comes
// then:
//
//     loop      100 cycles beyond its best case, its branches can have cost 300
//     behind it 150 cycles beyond the best case: 200 of the 300 may be among them
//
// A call by pointer that is mispredicted has its cycles in what is called (call_landings.h).

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flow/function_flow.h"
#include "stalls/stall_evidence.h"

namespace culprit {

/// Of fewer samples neither a stall nor a CPI is told: their error is as large as they are.
inline constexpr uint64_t kFewestStallSamples = 5;

/// A part of code, or the sum of several: `cycles` = best.total() - gain + explained + unexplained.
/// Without executions there is no best case: all is in `untold`, and causes have upper bounds only.
struct Stalls {
  double cycles = 0;  // measured
  uint64_t samples = 0;
  double executions = 0;  // of instructions
  uint64_t execution_samples = 0;
  StaticCycles best;
  double gain = 0;         // by which parts took less than their best case: the model's error
  double explained = 0;    // stalls that some cause can have had
  double unexplained = 0;  // stalls that none can
  double untold = 0;
  CauseCycles low{};
  CauseCycles high{};
  CauseCycles likely{};    // as of PartBounds
  CauseSources sources{};  // what the upper bounds rest on

  Stalls& operator+=(const Stalls& more);
};

struct StallRegion {
  std::optional<uint32_t> loop;  // of the function's loops; none: what is in no innermost loop
  Stalls stalls;
  std::vector<size_t> instructions;
};

struct FunctionStalls {
  std::vector<StallRegion> regions;  // most cycles first
  Stalls all;
};

/// `landed`: what mispredicted calls of other functions can have cost where this one begins.
FunctionStalls find_function_stalls(const FunctionFlow& flow, const FunctionEvidence& evidence,
                                    const PartBounds& landed = {});

using FunctionKey = std::pair<ImageId, uint32_t>;  // row of the image's functions
/// By instruction of a function, which others it went to, and how often.
using CallSites = std::map<size_t, std::map<FunctionKey, double>>;

/// What mispredicted calls can have cost where their callees begin: as much as the stalls of the
/// regions around the calls leave.
std::map<FunctionKey, PartBounds> find_callee_landings(const FunctionFlow& flow,
                                                       const FunctionEvidence& evidence,
                                                       const CallSites& calls);

/// The stalls of a loop or a function, whose evidence is added up. `events`: what sampled events
/// leave possible in it. `landed`: what mispredicted branches of other parts can have cost in it.
Stalls make_stalls(const std::vector<const InstructionEvidence*>& parts,
                   const EventBoundsByCause& events, bool has_best, bool can_miss_code,
                   const PartBounds& landed = {});

}  // namespace culprit
