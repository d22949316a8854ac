#pragma once

// Cycles of rounds → figures of a machine file. No clock, no memory: numbers alone.

#include <map>
#include <optional>
#include <vector>

#include "calibrate/calibrate.h"
#include "calibrate/curve.h"

namespace culprit {

/// What one round has measured; what is missing was not. All by the core's clock.
struct Round {
  double hertz = 0;
  Curve walk;                           // by bytes of large pages: cycles per load
  Curve small;                          // the same of 4 KiB pages
  std::optional<double> pages;          // cycles per load, of lines that L1D holds all of and that
                                        // are in more pages than a first-level TLB has entries
  std::map<uint64_t, double> walks;     // by walks at once through the largest: cycles per load
  std::map<uint64_t, double> reading;   // by bytes: bytes per cycle
  std::optional<double> random_branch;  // cycles per branch
  std::optional<double> known_branch;   // the same, all alike
  std::optional<double> one_set;        // cycles per load
  std::optional<double> transfer;       // cycles of a line from core to core
};

struct FoundFigures {
  std::vector<Figure> figures;
  std::vector<Lack> lacks;
};

/// Medians over the rounds. `machine` as for calibrate().
/// Errors: a figure whose middle half of rounds is wider than itself is a Lack, and is dropped
/// where
///         it is wider than a quarter; L3 has a size only where walks show a step (curve.h)
FoundFigures find_figures(const std::vector<Round>& rounds, const simulate::MachineModel& machine);

}  // namespace culprit
