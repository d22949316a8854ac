#include "cli/simulating.h"

#include <chrono>
#include <cstdlib>
#include <fmt/format.h>

#include "base/program_files.h"
#include "base/text.h"
#include "cli/simulation_progress.h"
#include "cli/terminal.h"
#include "experiments/experiments.h"
#include "print/event_display.h"
#include "simulate/find_machine.h"
#include "simulate/machine/set_sample.h"
#include "simulate/region_places.h"
#include "simulate/window_pace.h"

namespace culprit {

namespace {

/// "10 s to 40 s".
std::string describe_duration(const Slowdown& slowdown, double cpu_ns) {
  return format_duration_ns(slowdown.least * cpu_ns) + " to " +
         format_duration_ns(slowdown.most * cpu_ns);
}

/// `wanted`: the command before it was chosen that it is in windows.
void announce(const RecordCommand& command, const RecordCommand& wanted, const Profile& native) {
  const std::optional<int64_t> cpu_ns = native.runs.front().cpu_time_ns;
  if (!cpu_ns) return;
  const auto ns = static_cast<double>(*cpu_ns);
  const bool has_threads = native.threads.size() > native.processes.size();
  const Slowdown slowdown = expect_slowdown_of(command, has_threads);
  const bool is_chosen =
      command.simulate.windows.are_wanted() && !wanted.simulate.windows.are_wanted();
  print_message(fmt::format(
      "now simulating it in user mode{}: expect {} ({} to {} times its {} of CPU time){}",
      is_chosen ? ", in windows" : "", describe_duration(slowdown, ns), slowdown.least,
      slowdown.most, format_duration_ns(ns),
      is_chosen ? fmt::format("; all of it, which is exact: --windows all, {}",
                              describe_duration(expect_slowdown_of(wanted, has_threads), ns))
                : ""));
}

/// What a first user does not know: the model's times are those of a machine of this kind.
void offer_calibration(const RecordCommand& command) {
  const std::optional<Capability> model = describe_machine_model();
  if (command.machine != "host" || !model || model->available != Availability::part) return;
  print_message(
      "this machine is not calibrated, so the model is one of its kind: culprit calibrate, once, "
      "makes it this one");
}

/// What the program took; 0: not known.
double find_cycles(const Profile& native) {
  const std::optional<int64_t> cpu_ns = native.runs.front().cpu_time_ns;
  const ClockCalibration* const clock = find_clock(native.machine);
  return cpu_ns && clock != nullptr ? static_cast<double>(*cpu_ns) * clock->hertz / 1e9 : 0;
}

/// If nobody said how many windows, there are as many as there is time for.
RecordCommand with_budget(RecordCommand command, const Profile& native) {
  const std::optional<int64_t> cpu_ns = native.runs.front().cpu_time_ns;
  if (command.windows_by_budget && cpu_ns) {
    const auto ns = static_cast<double>(*cpu_ns);
    command.simulate.windows.per_million =
        WindowPace(static_cast<double>(command.simulate.budget_ns), ns).share();
    if (const double cycles = find_cycles(native); cycles > 0) {
      command.simulate.native = SimulateOptions::Native{ns, cycles};
    }
  }
  return command;
}

/// Experiments take no longer than what was simulated, and a second.
void try_changes(const RecordCommand& command, const RecordOptions& sampling,
                 std::optional<off_t> input_start, int64_t simulated_ns, Recording& both) {
  constexpr int64_t kSecond = 1'000'000'000;
  if (!command.experiments || sampling.control->take().stop != StopRequest::none) return;
  const std::vector<const ExperimentKind*> chosen = choose_experiments(both.profile);
  ExperimentOptions options;
  options.sampling = sampling;
  options.sampling.regions = nullptr;
  options.sampling.stacks = options.sampling.off_cpu = false;
  options.sampling.stack_copy_bytes = 0;
  options.input_start = input_start;
  options.find_library = find_experiment_library;
  options.most_ns = simulated_ns + kSecond;
  ProgressLine line;
  options.show = [&](size_t round, size_t rounds) {
    if (!command.quiet) {
      line.show(
          fmt::format("experiments: as it is, and with one thing changed: round {} of at most {}",
                      round, rounds));
    }
  };
  run_experiments(chosen, options, both);
}

Result<void> add_ranges_of_environment(SimulateOptions& options) {
  const char* const text = std::getenv(objects::kRangeVariable);
  if (text == nullptr) return {};
  Result<std::vector<objects::Range>> ranges = objects::parse_ranges(text);
  if (!ranges) {
    return Error{fmt::format("{}: {}", objects::kRangeVariable, ranges.error().message)};
  }
  options.objects = options.objects || !ranges->empty();
  for (objects::Range& range : *ranges) options.ranges.push_back(std::move(range));
  return {};
}

}  // namespace

Result<SimulateOptions> choose_simulation(const RecordCommand& command) {
  SimulateOptions options = command.simulate;
  RETURN_IF_ERROR(add_ranges_of_environment(options));
  options.plugin_path = find_qemu_plugin();
  if (command.machine != "none") {
    ASSIGN_OR_RETURN(options.machine,
                     find_machine(command.machine, find_machines(), find_calibration()));
    RETURN_IF_ERROR(simulate::SetSample::make(*options.machine, {.one_of = options.sample_sets}));
  }
  if (!command.region.empty()) {
    ASSIGN_OR_RETURN(options.region, find_region(command.region, options.command.front()));
  }
  for (const std::string& name : command.functions) {
    ASSIGN_OR_RETURN(counting::RegionPlaces places, find_region(name, options.command.front()));
    options.functions.push_back(std::move(places));
  }
  return options;
}

bool has_simulation() {
  return true;
}

RecordCommand choose_windows(RecordCommand command, double cpu_ns) {
  const bool has_ranges = std::getenv(objects::kRangeVariable) != nullptr;
  if (command.windows_by_time && !has_ranges &&
      takes_minutes(expect_slowdown_of(command), cpu_ns)) {
    command.simulate.windows.per_million = counting::kUsualWindows;
  }
  return command;
}

Slowdown expect_slowdown_of(const RecordCommand& command, bool has_threads) {
  return expect_slowdown(command.simulate, command.machine != "none", has_threads);
}

Result<SecondRun> prepare_second_run(const RecordCommand& command) {
  ASSIGN_OR_RETURN(const SimulateOptions options, choose_simulation(command));
  return SecondRun::prepare(options);
}

Result<Recording> run_simulation(const RecordCommand& command, RunControl& control,
                                 const SaveProfile& save, std::string* amount,
                                 const RunExpectation& expected) {
  ASSIGN_OR_RETURN(SimulateOptions options, choose_simulation(command));
  options.control = &control;
  SimulationProgress line(expected);
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

Result<void> run_second(SecondRun& second, const RecordCommand& wanted,
                        const RecordOptions& sampling, Recording& native, std::string* amount) {
  if (native.interrupted) {
    native.profile.ledger.note("not simulated: the native run was interrupted");
    native.remarks.emplace_back("interrupted: the profile has the native run only");
    return {};
  }
  const auto cpu_ns = static_cast<double>(native.run().cpu_time_ns.value_or(0));
  const RecordCommand command = choose_windows(with_budget(wanted, native.profile), cpu_ns);
  if (!command.quiet) {
    offer_calibration(command);
    announce(command, wanted, native.profile);
  }
  const double most_ns = expect_slowdown_of(command).most * cpu_ns;
  const RunExpectation expected{find_cycles(native.profile), most_ns / 1e9};
  std::string instructions;
  const auto start = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(second.run(native, [&] {
    return run_simulation(command, *sampling.control, nullptr, &instructions, expected);
  }));
  *amount += ", " + instructions;
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
  try_changes(command, sampling, second.input_start(), took.count(), native);
  return {};
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
  row.detail = machine->caches_of.empty()
                   ? "caches by the kernel, core of " + printable(machine->core_of)
                   : "core and caches of " + printable(machine->caches_of) +
                         ", as the kernel describes no caches";
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
