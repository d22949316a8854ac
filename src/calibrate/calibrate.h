#pragma once

// calibrate: this machine, measured.
//
//     const Calibration found = calibrate(machine, {.rounds = 9}, [] { return false; }, progress);
//     write_file(path, print_machine_file(found, ...));
//
// In user mode, without counters: time of loops whose work is known, in cycles of the core's clock.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "simulate/machine/machine.h"
#include "stats/estimate.h"

namespace culprit {

/// A figure of a machine file.
struct Figure {
  std::string section;  // "l1d"
  std::string key;      // "latency_cycles"
  double value = 0;     // median of the rounds, in the key's unit
  double before = 0;    // what the machine had
  Interval interval;    // of it, 95 %, not narrower than what a round can resolve
  std::string what;     // for people
  bool is_noisy = false;
};

/// What could not be measured, and why.
struct Lack {
  std::string what;
  std::string reason;
};

struct Calibration {
  double hertz = 0;  // of the core, the median of the rounds
  std::vector<Figure> figures;
  std::vector<Lack> lacks;
  size_t rounds = 0;
  double seconds = 0;
  bool is_complete = true;  // not interrupted
};

struct CalibrationOptions {
  size_t rounds = 9;
  uint64_t most_bytes = 128 << 20;  // of the largest walk, should memory allow it
};

/// `machine`: what is known of this one (caches by sysfs, the rest of a related one): where to look
/// for the levels, and what is left as it is.
/// Units:  figures in cycles of the core's clock, KiB, bytes per cycle
/// Errors: what scatters too much is a Lack
Calibration calibrate(const simulate::MachineModel& machine, const CalibrationOptions& options,
                      const std::function<bool()>& is_interrupted,
                      const std::function<void(double done)>& progress);

}  // namespace culprit
