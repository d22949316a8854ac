#pragma once

// Whether the software PMU can work in a QEMU, found by trying it.

#include <string>

namespace culprit {

struct Emulator {
  std::string version;  // "qemu-x86_64 version 7.2.22"; "": it cannot be run
  std::string problem;  // why it cannot load the plugin; "": it can
  std::string remedy;   // of the problem
};

/// Runs `program` (a path, or a name in PATH) twice: for its version, and to load our plugin, which
/// ends it. `plugin`: where libculprit_qemu.so is.
Emulator ask_emulator(const std::string& program, const std::string& plugin);

}  // namespace culprit
