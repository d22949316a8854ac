#pragma once

// Turns the words of a command into those that run it under QEMU with the plugin.

#include <string>
#include <vector>

#include "base/result.h"
#include "simulate/counting/counting_options.h"

namespace culprit {

struct QemuSettings {
  std::string plugin_path;  // libculprit_qemu.so
  std::string sysroot;      // libraries of the program's architecture; "": the usual place
  counting::CountingOptions counting;
};

struct QemuCommand {
  std::string architecture;              // as uname prints it: "x86_64", "aarch64"
  std::vector<std::string> words;        // the first is the emulator's path
  std::vector<std::string> environment;  // what QEMU gets; the program sees the one asked for
};

/// The ELF file that make_qemu_command() runs: the program, or a script's interpreter.
/// Errors: it is not found, or nothing that can be simulated.
Result<std::string> find_simulated_program(const std::string& program);

/// Errors: the program is not found, is not for Linux on x86-64 or aarch64; no QEMU for it, no
/// sysroot; a plugin or folder whose path QEMU cannot take.
Result<QemuCommand> make_qemu_command(const std::vector<std::string>& command,
                                      const std::vector<std::string>& environment,
                                      const QemuSettings& settings);

}  // namespace culprit
