#pragma once

// The words that QEMU hands to the plugin (-plugin LIBRARY,NAME=VALUE,...), written by
// qemu_command.cc.

#include <cstdint>
#include <optional>
#include <string>

#include "simulate/machine/outcome.h"

namespace culprit {

struct PluginOptions {
  std::string folder;  // where the counts files go
  size_t words = 0;    // of the command line, before the program (and `-0 NAME`)
  uint64_t limit = UINT64_MAX;
  uint64_t skip = 0;
  simulate::Locality locality = simulate::Locality::off;
  bool cycles = false;
  uint32_t sample_sets = 1;
  uint64_t sample_seed = 1;
  bool deterministic = false;  // threads take turns by simulated time
  bool trial = false;          // only whether QEMU loads the plugin is asked (emulator.h)
};

/// nullopt: a word that is none of ours, or no folder and no trial.
std::optional<PluginOptions> parse_plugin_options(int count, char** words);

}  // namespace culprit
