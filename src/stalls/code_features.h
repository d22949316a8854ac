#pragma once

// What an instruction can wait for at all: facts of the code that hold for every CPU.

#include "code/instruction.h"

namespace culprit {

struct CodeFeatures {
  bool loads = false;
  bool stores = false;
  bool is_of_stack = false;     // all its memory is near the stack pointer or the code: few pages
  bool divides = false;         // or takes a square root
  bool serializes = false;      // atomic, fence, cpuid
  bool is_microcoded = false;   // string instructions, gathers
  bool may_mispredict = false;  // conditional or indirect
};

/// Without operands (undecodable code) everything is possible.
CodeFeatures find_features(const Instruction& instruction);

}  // namespace culprit
