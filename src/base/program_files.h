#pragma once

#include <string>
#include <string_view>

namespace culprit {

/// Where libculprit_timer.so is: beside the program, or in ../lib/culprit of an
/// installation; "" if in neither place.
std::string find_shim();
/// libculprit_regions.so, likewise.
std::string find_regions_shim();
/// What is preloaded into the runs of an experiment ("one-cpu": libculprit_one_cpu.so), likewise.
std::string find_experiment_library(std::string_view experiment);

/// culprit_kernels: what `calibrate` and `validate` run.
std::string find_kernels();

/// libculprit_qemu.so: the plugin for QEMU.
std::string find_qemu_plugin();

/// The folder of the machine files that are shipped: ../share/culprit/uarch of an installation,
/// or the source's own (data/uarch); "" if in neither place.
std::string find_machines();
/// Where the templates are (data/templates).
std::string find_templates();

/// The file of what expressions of `culprit scan` may be called (data/scan/presets.toml).
std::string find_scan_presets();

/// Where `culprit calibrate` keeps the figures of this machine, whether they are there or not:
/// $XDG_CONFIG_HOME/culprit/machine.toml, else below ~/.config; "" without a home.
std::string find_calibration();

}  // namespace culprit
