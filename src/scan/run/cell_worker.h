#pragma once

// Builds and runs one cell, in a process that is there for nothing else.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/profile.h"
#include "scan/plan.h"
#include "scan/run/event_sets.h"
#include "scan/run/measure.h"
#include "simulate/machine/machine.h"

namespace culprit::scan {

/// What the cells of a scan have in common.
struct ScanSetting {
  Plan plan;
  std::string folder;  // of the setup file: commands run there
  std::optional<simulate::MachineModel> machine;
  std::string machine_text;          // all its figures, for keys
  std::optional<double> peak_flops;  // of the machine, per cycle (peak_rates.h)
  std::string plugin_path;
  std::string label;  // of the cells that are measured; "": none
  /// What native runs count, and together; of Plan::events, once they are to be run.
  std::vector<CountedEvent> counted_events;
  std::vector<EventSet> event_sets = {{}};
};

struct CellJob {
  PlannedCell cell;
  std::string compiler;  // what it says of itself
  std::string scratch;   // an empty folder of its own
  KnownFacts known_facts{};
  const EndWatcher* watcher = nullptr;  // of all cells; null: they have their own
};

/// The shell command that builds the cell's program as `out`; "" if there is nothing to build.
Result<std::string> build_command(const ScanSetting& setting, const PlannedCell& cell,
                                  const std::string& out);

/// The words that run the program `out`; {runs} stays.
Result<std::vector<std::string>> run_command(const ScanSetting& setting, const PlannedCell& cell,
                                             const std::string& out);

/// What decides the cell's result, as a hash. `inputs`: describe_inputs().
Result<std::string> compute_key(const ScanSetting& setting, const PlannedCell& cell,
                                const std::string& compiler, const std::string& inputs);

/// The program of a cell that is built in this folder; the plan's own if nothing is built.
std::string cell_program_path(const ScanSetting& setting, const PlannedCell& cell,
                              const std::string& scratch);
/// The profile that a cell leaves in its folder.
std::string cell_profile_path(const std::string& scratch);

/// Does it all: a cell that fails leaves a profile, too, which says why. Changes the working
/// directory. Writes what it is doing to SCRATCH/phase.
/// Errors: the profile cannot be written
Result<void> run_cell(const ScanSetting& setting, const CellJob& job);

/// A profile of a cell that could not tell by itself why it failed.
Profile make_failed_cell(const ScanSetting& setting, const CellJob& job, const std::string& status,
                         const std::string& message, const std::string& inputs);

}  // namespace culprit::scan
