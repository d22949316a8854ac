#pragma once

// Finds the description of a machine (docs/machine-files.md) by a word of the command line, or by
// what this CPU calls itself.

#include <string>

#include "base/result.h"
#include "simulate/machine/machine.h"

namespace culprit {

/// A machine file (.toml, or a path), one that is shipped (a name: data_folder has NAME.toml), or
/// "host": this machine, by sysfs, one that is shipped and has the same kind of core, and above all
/// by `calibration`, a machine file, if there is one and it is of this CPU.
Result<simulate::MachineModel> find_machine(const std::string& name, const std::string& data_folder,
                                            const std::string& calibration = "");

/// "host" without what was calibrated: the caches that `sysfs_root` ("/sys") describes, and the
/// core that find_core() gives it. Where nothing is described (some virtual machines) that
/// machine's caches, too: `caches_of` says so.
/// Errors: as find_core(); caches that cannot be simulated; none are described, and the CPU is
///         unlike all
Result<simulate::MachineModel> find_host(const std::string& sysfs_root,
                                         const std::string& data_folder, const std::string& cpuid);

/// The shipped machine (a file of `data_folder`) that has this CPU's core or, if none has, the core
/// that is most like it; `core_of` says which, and that it is only the nearest. Its figures are
/// those of no CPU in particular if the CPU is unlike all.
/// Errors: a file of the folder cannot be read (it may be the one that has this core)
Result<simulate::MachineModel> find_core(const std::string& data_folder, const std::string& cpuid);

}  // namespace culprit
