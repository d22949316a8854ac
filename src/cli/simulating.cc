#include "cli/simulating.h"

#include <fmt/format.h>

#include "base/program_files.h"
#include "base/text.h"
#include "cli/region_places.h"
#include "cli/simulation_progress.h"
#include "simulate/find_machine.h"
#include "simulate/machine/set_sample.h"

namespace culprit {

Result<SimulateOptions> choose_simulation(const RecordCommand& command) {
  SimulateOptions options = command.simulate;
  options.plugin_path = find_qemu_plugin();
  if (command.machine != "none") {
    ASSIGN_OR_RETURN(options.machine,
                     find_machine(command.machine, find_machines(), find_calibration()));
    RETURN_IF_ERROR(simulate::SetSample::make(*options.machine, {.one_of = options.sample_sets}));
  }
  if (!command.region.empty()) {
    ASSIGN_OR_RETURN(options.region, find_region(command.region, options.command.front()));
  }
  return options;
}

bool has_simulation() {
  return true;
}

Result<Recording> run_simulation(const RecordCommand& command, RunControl& control,
                                 const SaveProfile& save, std::string* amount,
                                 double native_cycles) {
  ASSIGN_OR_RETURN(SimulateOptions options, choose_simulation(command));
  options.control = &control;
  SimulationProgress line(native_cycles);
  const auto show = [&](const SimulateProgress& now) {
    if (!command.quiet) line.show(now);
  };
  Result<Simulation> simulation = run_simulated(options, show, save);
  line.clear();
  if (!simulation) return simulation.error();
  if (!command.region.empty()) {
    simulation->recording.profile.environment["simulate.roi"] = command.region;
  }
  *amount = fmt::format("{} instructions", format_thousands(simulation->instructions));
  return std::move(simulation->recording);
}

std::optional<Capability> describe_machine_model() {
  Capability row{"machine model", Availability::part, "", ""};
  const Result<simulate::MachineModel> machine =
      find_machine("host", find_machines(), find_calibration());
  if (!machine) {
    row.available = Availability::no;
    row.detail = machine.error().message;
    row.remedy = "name one: culprit record --machine zen4, or a file of yours";
    return row;
  }
  row.detail = "caches by the kernel, core of " + printable(machine->core_of);
  if (machine->calibrated_date.empty()) {
    row.detail += "; not calibrated";
    row.remedy = "culprit calibrate: measures this machine in a minute";
  } else {
    row.available = Availability::yes;
    row.detail += "; calibrated " + printable(machine->calibrated_date);
  }
  return row;
}

}  // namespace culprit
