#pragma once

// The words that QEMU hands to the plugin (-plugin LIBRARY,NAME=VALUE,...), written by
// qemu_command.cc: those of counting_options.h, and QEMU's own.

#include <optional>

#include "simulate/counting/counting_options.h"

namespace culprit {

struct PluginOptions {
  counting::CountingOptions counting;
  size_t words = 0;    // of the command line, before the program (and `-0 NAME`)
  bool trial = false;  // only whether QEMU loads the plugin is asked
};

/// nullopt: a word that is none of ours, or no folder and no trial.
std::optional<PluginOptions> parse_plugin_options(int count, char** words);

}  // namespace culprit
