#pragma once

// calibrate: this machine, measured.
//
//     Calibration found = calibrate(machine, {.rounds = 9}, [] { return false; }, progress);
//     select_figures(machine, kernel_runs, ..., found);   // selection.h: what makes the model
//     better write_file(path, print_machine_file(found, ...));
//
// In user mode, without counters: time of loops whose work is known, in cycles of the core's clock.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/busy_time.h"
#include "simulate/machine/machine.h"
#include "stats/estimate.h"

namespace culprit {

/// A figure of a machine file.
struct Figure {
  std::string section;     // "l1d"
  std::string key;         // "latency_cycles"
  double value = 0;        // median of the rounds, in the key's unit
  double before = 0;       // what the machine had
  Interval interval;       // of it, 95 %, not narrower than what a round can resolve
  std::string what;        // for people
  bool is_shared = false;  // others' work on this machine, or beside it, changes it
  std::string dropped;     // why the machine keeps what it had; "": the figure is used

  [[nodiscard]] bool is_kept() const { return dropped.empty(); }
};

/// What could not be measured, and why.
struct Lack {
  std::string what;
  std::string reason;
};

/// Loads that wait for each other, all over so many bytes in random order.
struct CurvePoint {
  uint64_t bytes = 0;
  double cycles = 0;  // per load: median of the rounds
  Interval range;     // from the fastest round to the slowest: how it changes with time
};

/// A kernel that has no part in the figures: what it took, and what two models say.
struct CheckedKernel {
  std::string name;
  double measured = 0;    // cycles a round, median
  Interval middle;        // half of its runs
  double shipped = 0;     // modelled, with no figure
  double calibrated = 0;  // with those that are kept
};

struct Calibration {
  double hertz = 0;  // of the core, the median of the rounds
  std::vector<Figure> figures;
  std::vector<Lack> lacks;
  std::vector<CurvePoint> curve;  // by bytes
  std::vector<CheckedKernel> kernels;
  std::optional<Neighbours> neighbours;  // while figures were measured; nullopt: not known
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
/// Errors: what scatters far too much is a Lack, and what does too much, or was shared with others
///         meanwhile, is dropped
Calibration calibrate(const simulate::MachineModel& machine, const CalibrationOptions& options,
                      const std::function<bool()>& is_interrupted,
                      const std::function<void(double done)>& progress);

/// Bytes of memory that a walk may take, of so many.
uint64_t find_room(uint64_t wanted);

}  // namespace culprit
