#include "simulate/machine/branch.h"

#include "simulate/machine/tage.h"
#include "simulate/machine/targets.h"

namespace culprit::simulate {

BranchPredictor::BranchPredictor(const BranchSettings& settings)
    : directions_(std::make_unique<Tage>(settings)),
      targets_(std::make_unique<TargetBuffer>(settings)),
      indirect_(std::make_unique<IndirectPredictor>(settings)),
      returns_(std::make_unique<ReturnStack>(settings)) {}

BranchPredictor::~BranchPredictor() = default;
BranchPredictor::BranchPredictor(BranchPredictor&&) noexcept = default;
BranchPredictor& BranchPredictor::operator=(BranchPredictor&&) noexcept = default;

Misprediction BranchPredictor::predict(const Branch& branch) {
  switch (branch.kind) {
    case BranchKind::conditional:
      return predict_conditional(branch);
    case BranchKind::jump:
      return predict_direct(branch);
    case BranchKind::call:
      returns_->push(branch.return_to);
      return predict_direct(branch);
    case BranchKind::indirect_call:
      returns_->push(branch.return_to);
      return predict_indirect(branch);
    case BranchKind::indirect_jump:
      return predict_indirect(branch);
    case BranchKind::ret:
      return returns_->pop() == branch.target ? Misprediction::none : Misprediction::return_target;
  }
  return Misprediction::none;
}

Misprediction BranchPredictor::predict_conditional(const Branch& branch) {
  const bool predicted = directions_->predict(branch.address, branch.taken);
  const Misprediction target = branch.taken ? predict_direct(branch) : Misprediction::none;
  return predicted == branch.taken ? target : Misprediction::direction;
}

Misprediction BranchPredictor::predict_direct(const Branch& branch) {
  return targets_->use(branch.address, branch.target) ? Misprediction::none
                                                      : Misprediction::late_target;
}

Misprediction BranchPredictor::predict_indirect(const Branch& branch) {
  const bool known = indirect_->use(branch.address, branch.target);
  // What came this way is worth knowing for the directions that follow.
  directions_->push_history((branch.target >> 2 & 1) != 0);
  return known ? Misprediction::none : Misprediction::target;
}

}  // namespace culprit::simulate
