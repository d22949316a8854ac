#pragma once

// BranchPredictor: what a modern front end would have predicted, branch by branch.
//
//     Misprediction miss = predictor.predict({.address = 0x401130, .kind = BranchKind::conditional,
//                                             .taken = true, .target = 0x401100});
//
// Directions: TAGE. Targets: a BTB for direct branches, a path-history predictor for indirect
// ones, a stack for returns. One predictor per core; it learns at once.

#include <cstdint>
#include <memory>

#include "simulate/machine/machine.h"

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

class Tage;
class TargetBuffer;
class IndirectPredictor;
class ReturnStack;

class BranchPredictor {
 public:
  explicit BranchPredictor(const BranchSettings& settings);
  ~BranchPredictor();
  BranchPredictor(BranchPredictor&&) noexcept;
  BranchPredictor& operator=(BranchPredictor&&) noexcept;

  /// Predicts the branch, compares with what it did, and learns.
  Misprediction predict(const Branch& branch);

 private:
  Misprediction predict_conditional(const Branch& branch);
  Misprediction predict_direct(const Branch& branch);
  Misprediction predict_indirect(const Branch& branch);

  std::unique_ptr<Tage> directions_;
  std::unique_ptr<TargetBuffer> targets_;
  std::unique_ptr<IndirectPredictor> indirect_;
  std::unique_ptr<ReturnStack> returns_;
};

}  // namespace culprit::simulate
