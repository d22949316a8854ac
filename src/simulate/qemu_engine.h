#pragma once

// QEMU's user mode as a SimulationEngine.

#include <memory>
#include <string>

#include "simulate/engine.h"

namespace culprit {

/// `plugin_path`: libculprit_qemu.so. `sysroot`: for programs of another architecture; "": the
/// usual place.
std::unique_ptr<SimulationEngine> make_qemu_engine(std::string plugin_path, std::string sysroot);

}  // namespace culprit
