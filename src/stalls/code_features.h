#pragma once

// What an instruction can wait for at all, by its text: facts of the code that hold for every CPU.

#include <string_view>

#include "code/instruction.h"

namespace culprit {

struct CodeFeatures {
  bool loads = false;
  bool stores = false;
  bool is_of_stack = false;     // all its memory is near the stack pointer or the code: few pages
  bool divides = false;         // or takes a square root
  bool serializes = false;      // atomic, fence, cpuid, rdtsc
  bool is_microcoded = false;   // string instructions, gathers
  bool may_mispredict = false;  // conditional or indirect
};

/// `architecture`: "x86_64" (AT&T syntax) or "aarch64"; of others everything is possible.
CodeFeatures find_features(const Instruction& instruction, std::string_view architecture);

}  // namespace culprit
