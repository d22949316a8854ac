#pragma once

// What a QEMU says of itself: whether the software PMU can work in it.

#include <string>

namespace culprit {

struct Emulator {
  std::string version;  // "qemu-x86_64 version 7.2.22"; "": it cannot be run
  std::string problem;  // why culprit's plugin cannot be loaded into it; "": nothing is known
  std::string remedy;   // of the problem
};

/// Runs `program` (a path, or a name in PATH), twice, for its version and its options.
Emulator ask_emulator(const std::string& program);

}  // namespace culprit
