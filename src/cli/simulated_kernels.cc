#include "cli/simulated_kernels.h"

#include "base/program_files.h"
#include "simulate/find_machine.h"
#include "simulate/region_places.h"
#include "simulate/simulate.h"

namespace culprit {
namespace {

Result<SimulateOptions> make_options(const std::string& program, std::vector<std::string> command) {
  SimulateOptions options;
  options.command = std::move(command);
  options.plugin_path = find_qemu_plugin();
  ASSIGN_OR_RETURN(options.region, find_region("run_kernel", program));
  return options;
}

}  // namespace

Result<SimulatedKernels> SimulatedKernels::open(const std::string& program,
                                                const std::string& machine, RunControl& control) {
  SimulatedKernels kernels;
  kernels.program_ = program;
  kernels.control_ = &control;
  ASSIGN_OR_RETURN(kernels.machine_, find_machine(machine, find_machines(), find_calibration()));
  ASSIGN_OR_RETURN(const SimulateOptions options, make_options(program, {program}));
  if (const Result<std::string> possible = check_simulated(options); !possible) {
    return possible.error();
  }
  return kernels;
}

CacheSizes SimulatedKernels::sizes() const {
  return {machine_.l1d.size_bytes, machine_.l2.size_bytes, machine_.l3.size_bytes,
          machine_.tlb.second.entries};
}

Result<std::map<std::string, double>> SimulatedKernels::count(const KernelRun& run) const {
  ASSIGN_OR_RETURN(SimulateOptions options,
                   make_options(program_, make_kernel_command(program_, run)));
  options.machine = machine_;
  options.control = control_;
  ASSIGN_OR_RETURN(const Simulation simulation, run_simulated(options, nullptr));
  if (simulation.recording.interrupted) return Error{"interrupted"};
  const Profile& profile = simulation.recording.profile;
  std::map<std::string, double> totals;
  for (const Event& event : profile.events) totals[std::string(profile.strings.text(event.name))];
  for (const Histogram& histogram : profile.histograms) {
    for (const EventColumn& column : histogram.columns) {
      const Event& event = profile.events[column.event.value];
      double& total = totals[std::string(profile.strings.text(event.name))];
      for (const uint64_t value : column.value) total += static_cast<double>(value) * event.scale;
    }
  }
  return totals;
}

}  // namespace culprit
