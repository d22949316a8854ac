#pragma once

// Executions of instructions become events of the static pipeline model: what the code costs
// by itself, whatever the caches and the predictor did.
//
//   static:busy-SKXPort5    cycles that a port (or ports that share work) was busy
//   static:chain-cycles     cycles by which innermost loops are slower than their throughput,
//                           because each iteration waits for values of the one before
//   static:calls            executions of call instructions
//
// A part of a program waits at least for its busiest port: the largest of the busy sums.

#include <string>
#include <vector>

#include "attribute/attribution.h"
#include "base/result.h"
#include "model/profile.h"

namespace culprit {

/// What counts executions at each instruction: one event, or several that are added up (of user
/// and of kernel code).
struct Executions {
  struct Part {
    size_t event = 0;   // of `profile`
    double factor = 1;  // its values x this are executions
  };
  const Profile* profile = nullptr;  // with the same contexts and images as the one to model
  std::vector<Part> parts;
};

struct StaticCpu {
  std::string llvm_cpu;       // "skylake-avx512", as LLVM names it
  double dispatch_width = 4;  // micro-operations per cycle
};

struct StaticModel {
  Profile profile;            // with the events behind its own
  double modelled_share = 0;  // of all executions: of instructions whose costs are known
  double looped_share = 0;    // of all: in innermost loops whose chains could be followed
};

/// Units:  executions x cycles of the scheduling model -> [cycles]
/// Errors: variances are those of the executions: of a sampled event the mean over each basic
///         block's instructions, and all that is derived from one block is taken to err together.
///         How far the scheduling model is from the CPU is not known. The hottest functions are
///         modelled, up to kModelledShare of the executions; code of architectures that there are
///         no costs for (32-bit x86) is not. An error if LLVM has no model of the CPU.
Result<StaticModel> with_static_events(const Profile& profile, const FactsLookup& facts,
                                       const Executions& executions, const StaticCpu& cpu);
inline constexpr double kModelledShare = 0.995;

}  // namespace culprit
