#pragma once

// `culprit record --engine simulate`: the command under the software PMU instead of samples; and
// `timer+simulate`: once more after them.

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/options/command_line.h"
#include "cli/simulation_progress.h"
#include "host/capabilities.h"
#include "simulate/second_run.h"
#include "simulate/simulate.h"
#include "simulate/slowdown.h"

namespace culprit {

/// What is to be simulated, with its machine and region.
/// Errors: a machine or function that does not exist, a sample that the machine's sets do not allow
Result<SimulateOptions> choose_simulation(const RecordCommand& command);

/// Whether this build has the software PMU.
bool has_simulation();

/// Runs the command and shows how far it is. `amount`: "1,234,567 instructions". `save` is given
/// what there is so far, now and then; nullptr: nobody wants it. `expected`: to tell how far
/// it is.
/// Errors: as run_simulated(); choose_simulation()
Result<Recording> run_simulation(const RecordCommand& command, RunControl& control,
                                 const SaveProfile& save, std::string* amount,
                                 const RunExpectation& expected = {});

/// The command in windows, if a program with `cpu_ns` of CPU time would take more than a minute as
/// it is, and nobody has asked for what windows do not tell.
RecordCommand choose_windows(RecordCommand command, double cpu_ns);

/// expect_slowdown() of what the command asks for.
Slowdown expect_slowdown_of(const RecordCommand& command, bool has_threads = true);

/// Errors: as choose_simulation(), SecondRun::prepare()
Result<SecondRun> prepare_second_run(const RecordCommand& command);

/// Says how long it will take, simulates the command that ran as `native`, sampled by `sampling`,
/// and merges what comes of it into that; then it tries what experiments may tell. An interrupted
/// native run is not simulated: the ledger says so. `amount` gets what was counted.
/// Errors: as run_simulation(); `native` stays as it was, but for a note in its ledger
Result<void> run_second(SecondRun& second, const RecordCommand& wanted,
                        const RecordOptions& sampling, Recording& native, std::string* amount);

/// The row of `culprit doctor` on what the software PMU knows of this machine; nullopt: this build
/// has no software PMU.
std::optional<Capability> describe_machine_model();

}  // namespace culprit
