#pragma once

// A calibration as a machine file, and as a table for people.

#include <string>

#include "calibrate/calibrate.h"

namespace culprit {

/// Whose figures they are.
struct CalibrationHead {
  std::string cpu;       // read_cpuid(): "AuthenticAMD-25-11-1"
  std::string cpu_name;  // for people
  std::string date;      // "2026-11-24"
};

/// How many figures a machine file takes: a noisy one is worse than what the machine had before.
size_t count_kept(const Calibration& calibration);

/// A machine file of what was measured, and is not noisy: the rest `--machine host` has from
/// elsewhere.
std::string print_machine_file(const Calibration& calibration, const CalibrationHead& head);

/// Each figure with its interval, beside what the machine had; what could not be measured, and why.
std::string print_calibration(const Calibration& calibration);

}  // namespace culprit
