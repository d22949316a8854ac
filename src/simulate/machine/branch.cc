#include "simulate/machine/branch.h"

namespace culprit::simulate {

Misprediction BranchPredictor::predict_unconditional(const Branch& branch) {
  switch (branch.kind) {
    case BranchKind::conditional:
      break;
    case BranchKind::jump:
      return predict_direct(branch);
    case BranchKind::call:
      returns_.push(branch.return_to);
      return predict_direct(branch);
    case BranchKind::indirect_call:
      returns_.push(branch.return_to);
      return predict_indirect(branch);
    case BranchKind::indirect_jump:
      return predict_indirect(branch);
    case BranchKind::ret:
      return returns_.pop() == branch.target ? Misprediction::none : Misprediction::return_target;
  }
  return Misprediction::none;
}

Misprediction BranchPredictor::predict_indirect(const Branch& branch) {
  const bool known = indirect_.use(branch.address, branch.target);
  // What came this way is worth knowing for the directions that follow.
  directions_.push_history((branch.target >> 2 & 1) != 0);
  return known ? Misprediction::none : Misprediction::target;
}

}  // namespace culprit::simulate
