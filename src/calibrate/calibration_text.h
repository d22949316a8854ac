#pragma once

// A calibration as a machine file, and as a table for people.

#include <string>

#include "calibrate/calibrate.h"

namespace culprit {

/// Says whose the figures are.
struct CalibrationHead {
  std::string cpu;       // read_cpuid(): "AuthenticAMD-25-11-1"
  std::string cpu_name;  // for people
  std::string date;      // "2026-11-24"
};

/// A machine file of the figures that are kept: the rest `--machine host` has from elsewhere. The
/// curve, and what was dropped, are comments in it.
std::string print_machine_file(const Calibration& calibration, const CalibrationHead& head);

/// Each figure with its interval, beside what the machine had, and why it is not used; what could
/// not be measured; the curve of loads; the kernels that figures were checked by.
std::string print_calibration(const Calibration& calibration);

}  // namespace culprit
