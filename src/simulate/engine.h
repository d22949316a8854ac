#pragma once

// SimulationEngine: what runs a program so that a Counting (counting/counting.h) in the program's
// process sees its blocks and accesses. The host side asks an engine how a command is started; what
// is counted then comes through the counts files, whatever engine wrote them.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simulate/counting/counting_options.h"

namespace culprit {

/// A program that an engine is about to run.
struct EngineCommand {
  std::string architecture;              // as uname prints it: "x86_64", "aarch64"
  std::vector<std::string> words;        // what is executed; the first is a path
  std::vector<std::string> environment;  // of what is executed; the program sees the one asked for
};

class SimulationEngine {
 public:
  virtual ~SimulationEngine() = default;

  /// How `command` is started with the environment, to be counted as `counting` says.
  /// Errors: the program is not found, or nothing that this engine can run.
  [[nodiscard]] virtual Result<EngineCommand> make_command(
      const std::vector<std::string>& command, const std::vector<std::string>& environment,
      const counting::CountingOptions& counting) const = 0;

  /// Errors: what the command starts cannot count on this machine.
  [[nodiscard]] virtual Result<void> check(const EngineCommand& command) const = 0;

  /// What to say of a program's end, by the engine's own words (counted in the process, "" if it
  /// said none) and whether the program has code for AVX-512; "": nothing.
  [[nodiscard]] virtual std::string explain_end(const std::string& program,
                                                const std::string& messages,
                                                bool has_avx512) const = 0;
};

}  // namespace culprit
