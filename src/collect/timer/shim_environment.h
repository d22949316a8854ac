#pragma once

// The environment in which a command has the shim (guest/) preloaded.

#include <cstdint>
#include <string>
#include <vector>

namespace culprit {

/// The settings of guest/protocol.h, for the environment of the command.
struct ShimSettings {
  std::string shim_path;
  std::string folder;
  uint64_t period_ns = 0;
  bool stacks = false;
};

/// Our environment with the shim in it. LD_PRELOAD keeps what it had.
std::vector<std::string> make_shim_environment(const ShimSettings& settings);

}  // namespace culprit
