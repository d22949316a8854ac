#pragma once

// run_simulated(): runs a command under QEMU with the plugin (qemu/) and makes a Profile of what
// was counted, as record() does of samples. Needs no privileges and no PMU.
//
//     SimulateOptions options;
//     options.command = {"gzip", "-k", "file"};
//     ASSIGN_OR_RETURN(Simulation simulation, run_simulated(options, nullptr));
//
// Counted are the instructions of the program and its children in user mode. System calls run
// natively; the ledger has their number and time.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "recording/recording.h"
#include "recording/run_control.h"
#include "simulate/counting/region.h"
#include "simulate/counting/window_schedule.h"
#include "simulate/end_with_culprit.h"
#include "simulate/machine/machine.h"
#include "simulate/machine/outcome.h"
#include "simulate/objects/data_objects.h"

namespace culprit {

struct SimulateOptions {
  std::vector<std::string> command;
  std::string plugin_path;         // libculprit_qemu.so
  std::string sysroot;             // for programs of another architecture; "": the usual place
  uint64_t max_instructions = 0;   // of each process; after them it runs on uncounted. 0: all
  uint64_t skip_instructions = 0;  // of each process, before any is counted
  /// Counts only while inside a function that begins there (--roi); no path: all.
  counting::RegionPlaces region;
  /// Accesses go through its caches and TLBs; nullopt: executions, accesses and branches only.
  std::optional<simulate::MachineModel> machine;
  simulate::Locality locality = simulate::Locality::off;  // needs a machine
  bool cycles = true;                                     // if there is a machine, its time, too
  /// N of --sets 1/N: simulates so many of the machine's cache sets, chosen by the seed, and
  /// estimates misses, and what becomes of lines, of all. Needs a machine, without cycles and
  /// prefetchers.
  uint32_t sample_sets = 1;
  uint64_t sample_seed = 1;
  /// Accesses of each process that are simulated in all sets, before some are drawn; 0: none, which
  /// is not for locality.
  uint64_t sample_first = 0;
  /// Windows of the run are modelled, and costs estimated for all of it. Needs a machine, without
  /// locality, objects, a sample of sets and turns.
  counting::WindowOptions windows;
  bool branches = true;        // where they went, beside what was counted at each
  bool deterministic = false;  // threads take turns by simulated time
  bool objects = false;        // counts by data object, too
  objects::Grouping grouping = objects::Grouping::site;  // of blocks of the heap
  std::vector<objects::Range> ranges{};                  // --range
  std::vector<std::string> allocators{};                 // --allocator, as they are written
  bool regions = false;                                  // counts by OpenMP construct, too
  std::vector<counting::RegionPlaces> functions{};       // --region: that are constructs, too
  /// The program is ended after so long, with all that it has started; 0: never.
  uint64_t budget_ns = 0;
  /// What the program takes natively; windows are as many then as the budget has time for.
  struct Native {
    double cpu_ns = 0;
    double cycles = 0;
  };
  std::optional<Native> native;
  RunControl* control = nullptr;        // who may ask for an end; null: nobody
  const EndWatcher* watcher = nullptr;  // that several runs share; null: the run has its own
};

struct SimulateProgress {
  double elapsed_s = 0;
  uint64_t instructions = 0;  // of all processes so far
  double cycles = 0;          // the same, modelled; with windows roughly. 0: they are not
};

/// Is given a whole profile of what there is so far, which replaces the one before it: counts
/// survive kill -9 as samples do.
using SaveProfile = std::function<Result<void>(const Profile&)>;

/// What came of it: a Recording whose `samples` are 0, and how much was simulated.
struct Simulation {
  Recording recording;
  uint64_t instructions = 0;
  uint64_t processes = 0;
  uint64_t clock_ticks = 0;  // of all simulated cores' clocks, as they say; 0: no cycles
};

/// Whether the command can be simulated, before it is: the architecture of its program, as uname
/// prints it.
/// Errors: as make_qemu_command()
Result<std::string> check_simulated(const SimulateOptions& options);

/// Runs until the command ends, or the budget is spent (children that live on are counted up to
/// then), or `control` asks for an end. Errors: as make_qemu_command(); QEMU refused the plugin; no
/// place for the counts.
Result<Simulation> run_simulated(const SimulateOptions& options,
                                 const std::function<void(const SimulateProgress&)>& progress,
                                 const SaveProfile& save = nullptr);

}  // namespace culprit
