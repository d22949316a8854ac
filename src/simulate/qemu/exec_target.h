#pragma once

// What QEMU is to be given instead of a program that is executed: the program itself, or the
// interpreter that a script names, with its arguments.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace culprit {

struct ExecTarget {
  std::string program;             // an ELF file
  std::string name;                // argv[0]
  std::vector<std::string> words;  // argv[1..], before those that the script itself was given
};

/// nullopt: not executable, no ELF file for `machine` nor a script for such a program, or one
/// that runs with other rights (set-user-ID), which an emulator could not give it.
std::optional<ExecTarget> find_exec_target(const std::string& path, const std::string& name,
                                           uint16_t machine);

/// How QEMU is to be executed for it.
struct QemuExec {
  std::vector<std::string> words;        // behind QEMU's own options
  std::vector<std::string> environment;  // of QEMU itself
};

/// The program gets these arguments, without argv[0], and this environment ("NAME=VALUE").
QemuExec make_qemu_exec(const ExecTarget& target, const std::vector<std::string>& arguments,
                        const std::vector<std::string>& environment);

}  // namespace culprit
