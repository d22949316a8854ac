#include "stalls/code_features.h"

namespace culprit {

CodeFeatures find_features(const Instruction& instruction) {
  const Operands& operands = instruction.operands;
  CodeFeatures features{true, true, false, true, true, true, false};
  if (operands.is_known) {
    features.loads = operands.loads;
    features.stores = operands.stores;
    features.is_of_stack = operands.address
                               ? operands.address->is_of_stack || operands.address->is_relative
                               : operands.uses_stack;
    features.divides = operands.divides;
    features.serializes = operands.is_atomic || operands.is_fence || operands.is_serializing;
    features.is_microcoded = operands.is_microcoded;
  }
  features.may_mispredict =
      instruction.flow == Flow::branch || instruction.flow == Flow::indirect_jump ||
      instruction.flow == Flow::returns || (instruction.flow == Flow::call && !instruction.target);
  return features;
}

}  // namespace culprit
