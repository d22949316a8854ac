#pragma once

// BranchPredictor: what a modern front end would have predicted, branch by branch.
//
//     Misprediction miss = predictor.predict({.address = 0x401130, .kind = BranchKind::conditional,
//                                             .taken = true, .target = 0x401100});
//
// Directions: a hashed perceptron. Targets: a BTB for direct branches, a path-history predictor for
// indirect ones, a stack for returns. One predictor per core; it learns at once.

#include <cstdint>

#include "simulate/machine/gehl.h"
#include "simulate/machine/machine.h"
#include "simulate/machine/targets.h"

namespace culprit::simulate {

enum class BranchKind : uint8_t {
  conditional,
  jump,
  call,
  indirect_jump,
  indirect_call,
  ret,
};

struct Branch {
  uint64_t address = 0;
  BranchKind kind = BranchKind::conditional;
  bool taken = true;
  uint64_t target = 0;     // where it went, if taken
  uint64_t return_to = 0;  // of calls: the address after them
};

enum class Misprediction : uint8_t {
  none,
  direction,      // a conditional branch went the other way
  target,         // an indirect branch went elsewhere
  return_target,  // a return did
  late_target,    // a taken direct branch that the BTB did not know: the decoder finds out,
                  // which is short; perf's branch-misses does not count these
};

/// Whether perf's branch-misses counts it.
inline bool is_branch_miss(Misprediction kind) {
  return kind != Misprediction::none && kind != Misprediction::late_target;
}

class BranchPredictor {
 public:
  explicit BranchPredictor(const BranchSettings& settings)
      : directions_(settings), targets_(settings), indirect_(settings), returns_(settings) {}

  /// Predicts the branch, compares with what it did, and learns.
  Misprediction predict(const Branch& branch) {
    if (branch.kind == BranchKind::conditional) [[likely]] {
      const bool predicted = directions_.predict(branch.address, branch.taken);
      const Misprediction target = branch.taken ? predict_direct(branch) : Misprediction::none;
      return predicted == branch.taken ? target : Misprediction::direction;
    }
    return predict_unconditional(branch);
  }

 private:
  Misprediction predict_direct(const Branch& branch) {
    return targets_.use(branch.address, branch.target) ? Misprediction::none
                                                       : Misprediction::late_target;
  }
  Misprediction predict_unconditional(const Branch& branch);
  Misprediction predict_indirect(const Branch& branch);

  Gehl directions_;
  TargetBuffer targets_;
  IndirectPredictor indirect_;
  ReturnStack returns_;
};

}  // namespace culprit::simulate
