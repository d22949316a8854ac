#pragma once

// Execs taken over: instead of the new program itself, QEMU with this plugin is executed on it, so
// that children are followed without anything in the program or its environment.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/counting/counting.h"

namespace culprit {

class ExecTakeover {
 public:
  /// `architecture` as QEMU names it; `emulator`: the words before the program in our command line
  /// (without `-0 NAME`), the first being QEMU's own path; `program`: what it runs; `needed`: the
  /// plugin's library and the folder for counts.
  ExecTakeover(std::string_view architecture, std::vector<std::string> emulator,
               const std::string& program, std::vector<std::string> needed);

  /// The thread `number` calls it; the program's addresses are shifted by `base`. Returns only if
  /// the program is none that this QEMU can run, or exec fails: then QEMU executes it as it is.
  void take_over(const counting::ExecCall& call, unsigned number, uint64_t base,
                 counting::Counting& counting);

 private:
  [[nodiscard]] std::string resolve_own_path(const std::string& path) const;
  [[nodiscard]] bool has_all_needed() const;

  uint16_t machine_;  // e_machine of ELF
  std::vector<std::string> emulator_;
  std::string program_;              // whole; "": not known
  std::vector<std::string> needed_;  // paths
};

}  // namespace culprit
