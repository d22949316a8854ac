#pragma once

// Options of `culprit record` for --engine simulate.

#include <string>

#include "cli/options/command_options.h"

namespace culprit {

void add_simulation(CLI::App* app, RecordCommand* command);

/// "" if what is asked for goes together. Settles what one option says of another.
std::string check_simulation(const CLI::App& app, RecordCommand& command);

}  // namespace culprit
