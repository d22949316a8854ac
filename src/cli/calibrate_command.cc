// `culprit calibrate`: measures this machine, and keeps the figures where --machine host finds
// them.

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "base/cpuid.h"
#include "base/date.h"
#include "base/file.h"
#include "base/program_files.h"
#include "base/text.h"
#include "calibrate/calibrate.h"
#include "calibrate/calibration_text.h"
#include "calibrate/selection.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/kernel_program.h"
#include "cli/output_file.h"
#include "cli/terminal.h"
#include "host/clock.h"
#include "host/describe_machine.h"
#include "simulate/find_machine.h"
#include "simulate/machine/cycles.h"
#include "simulate/region_places.h"
#include "simulate/simulate.h"

namespace culprit {
namespace {

Result<OutputStream> open_machine_file(const std::string& path, bool force) {
  Result<OutputStream> file =
      OutputStream::open({.path = path, .kind = OutputKind::machine_file, .force = force});
  if (!file)
    return file.error().with(file.error().message + "\n-o FILE keeps the figures elsewhere");
  return file;
}

constexpr double kShorter = 0.5;  // of two lengths of a kernel

KernelRun make_run(const CheckKernel& kernel, bool is_shorter) {
  const double part = is_shorter ? kShorter : 1;
  return {kernel.kernel, static_cast<uint64_t>(part * static_cast<double>(kernel.rounds)),
          kernel.bytes};
}

/// The difference of two lengths is what a round takes: what comes before the rounds drops out.
/// Errors: those of `run`
template <class Run>
Result<double> compute_per_round(const CheckKernel& kernel, const Run& run) {
  const KernelRun shorter = make_run(kernel, true);
  const KernelRun longer = make_run(kernel, false);
  ASSIGN_OR_RETURN(const double before, run(shorter));
  ASSIGN_OR_RETURN(const double all, run(longer));
  return (all - before) / static_cast<double>(longer.rounds - shorter.rounds);
}

/// What the check needs, found before anything is measured.
struct KernelBench {
  std::string program;
  SimulateOptions simulation;  // without command and machine
};

Result<KernelBench> make_bench() {
  KernelBench bench;
  ASSIGN_OR_RETURN(bench.program, find_kernel_program());
  bench.simulation.plugin_path = find_qemu_plugin();
  ASSIGN_OR_RETURN(bench.simulation.region, find_region("run_kernel", bench.program));
  bench.simulation.command = {bench.program};
  if (const Result<std::string> possible = check_simulated(bench.simulation); !possible) {
    return Error{
        "figures are kept if they make the model better, and nothing can be modelled here: " +
        possible.error().message};
  }
  return bench;
}

KernelRuns make_runs(const KernelBench& bench) {
  KernelRuns runs;
  runs.measure = [&bench](const CheckKernel& kernel) -> std::optional<double> {
    const double hertz = measure_clock_burst();
    const Result<double> ns = compute_per_round(
        kernel, [&](const KernelRun& run) { return time_kernel(bench.program, run); });
    return ns ? std::optional(*ns * hertz / 1e9) : std::nullopt;
  };
  runs.model = [&bench](const CheckKernel& kernel, const simulate::MachineModel& machine) {
    return compute_per_round(kernel, [&](const KernelRun& run) -> Result<double> {
      SimulateOptions options = bench.simulation;
      options.command = make_kernel_command(bench.program, run);
      options.machine = machine;
      ASSIGN_OR_RETURN(const Simulation simulation, run_simulated(options, nullptr));
      return simulate::to_cycles(simulation.clock_ticks);
    });
  };
  return runs;
}

bool is_any_kept(const Calibration& calibration) {
  return std::any_of(calibration.figures.begin(), calibration.figures.end(),
                     [](const Figure& figure) { return figure.is_kept(); });
}

}  // namespace

int run(const CalibrateCommand& command) {
  const std::string path = command.output.empty() ? find_calibration() : command.output;
  if (path.empty()) return fail(Error{"there is no home folder to keep it in: name a file (-o)"});
  const Result<std::string> cpu = read_cpuid();
  if (!cpu) return fail(cpu.error());
  const Result<simulate::MachineModel> machine = find_machine("host", find_machines());
  if (!machine) return fail(machine.error());

  const Result<KernelBench> bench = make_bench();
  if (!bench) return fail(bench.error());

  // A file that cannot be written is told before the measuring, which would be for nothing.
  if (command.output.empty()) {
    std::error_code ignored;  // what is wrong shows when the file is opened
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  }
  Result<OutputStream> file = open_machine_file(path, command.force);
  if (!file) return fail(file.error());
  const InterruptGuard interrupts;
  const auto is_interrupted = [&] { return interrupts.is_interrupted(); };
  ProgressLine line;
  const auto show = [&](const char* what) {
    return [&line, what](double done) { line.show(fmt::format("{}: {:.0f} %", what, 100 * done)); };
  };
  const CalibrationOptions options{.rounds = command.rounds};
  Calibration found = calibrate(*machine, options, is_interrupted, show("measuring"));
  if (found.is_complete) {
    const Result<void> selected =
        select_figures(*machine, list_check_kernels(*machine, find_room(options.most_bytes)),
                       make_runs(*bench), is_interrupted, show("checking by kernels"), found);
    if (!selected && !is_interrupted()) return fail(selected.error());
  }
  line.clear();
  if (is_interrupted() || !found.is_complete) {
    return fail(Error{"interrupted: nothing was kept"});
  }
  const CalibrationHead head{*cpu, describe_machine().cpu_model, format_today()};
  if (const auto written = file->write(print_machine_file(found, head)); !written) {
    return fail(written.error());
  }
  const std::string where = command.output.empty() ? "--machine host" : "--machine " + path;
  std::string text = print_calibration(found);
  if (!is_any_kept(found)) text += "\nNo figure makes the model better here: it stays as it was.\n";
  text += fmt::format("\nKept in {}: {} has it\n", printable(path), printable(where));
  if (const Result<void> written = write_output(text); !written) return fail(written.error());
  return 0;
}

}  // namespace culprit
