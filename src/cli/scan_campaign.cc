// `culprit scan run, retry, forget, predict`: cells of a setup file.

#include <algorithm>
#include <fmt/format.h>

#include "base/program_files.h"
#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/run_program.h"
#include "cli/scan_actions.h"
#include "cli/scan_output.h"
#include "cli/scan_status.h"
#include "cli/terminal.h"
#include "scan/run/run_scan.h"
#include "scan/run/scan_file.h"
#include "simulate/find_machine.h"

namespace culprit {
namespace {

/// "3 min 20 s".
std::string format_seconds(double seconds) {
  const auto whole = static_cast<uint64_t>(seconds + 0.5);
  if (whole >= 3600) return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
  if (whole >= 60) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{:.1f} s", seconds);
}

std::string describe_outcome(const scan::ScanOutcome& outcome) {
  return fmt::format(
      "{} in {}{}{}", scan::count_cells(outcome.done), format_seconds(outcome.elapsed_s),
      outcome.failed > 0 ? fmt::format(", {} failed (culprit scan status)", outcome.failed) : "",
      outcome.kept > 0 ? fmt::format("; {} were there", outcome.kept) : "");
}

/// Runs them with progress shown; "interrupted" is an error.
Result<scan::ScanOutcome> run_with_progress(const scan::ScanOptions& options, bool quiet) {
  const InterruptGuard guard;
  ProgressLine line;
  const auto show = [&](const scan::ScanProgress& now) {
    if (!quiet) {
      const double left_s = now.done == 0 ? 0
                                          : now.elapsed_s / static_cast<double>(now.done) *
                                                static_cast<double>(now.total - now.done);
      line.show(fmt::format("{} of {} cells{}{}{}", now.done, now.total,
                            now.failed > 0 ? fmt::format(", {} failed", now.failed) : "",
                            now.timing > 0 ? fmt::format(", timing {}", now.timing) : "",
                            now.done > 0 ? ", " + format_seconds(left_s) + " left" : ""));
    }
    return !guard.is_interrupted();
  };
  ASSIGN_OR_RETURN(const scan::ScanOutcome outcome, scan::run_scan(options, show));
  line.clear();
  const std::string what = describe_outcome(outcome);
  if (outcome.is_interrupted) {
    return Error{
        fmt::format("interrupted: {}; {} are left: the same command goes on", what, outcome.left)};
  }
  if (outcome.unsure > 0 && !quiet) {
    print_message(
        fmt::format("{} of {} are less certain than within {} %: the machine is not quiet",
                    options.setting.plan.events.empty() ? "the times" : "times or counts",
                    scan::count_cells(outcome.unsure), options.setting.plan.native_percent()));
  }
  if (!quiet) print_message(fmt::format("{} -> {}", what, printable(options.output)));
  return outcome;
}

scan::ScanOptions scan_options(const ScanCommand& command, scan::ScanSetting setting) {
  scan::ScanOptions options;
  options.setting = std::move(setting);
  options.choice = command.choice;
  options.output = command.scan_file();
  options.jobs = command.jobs;
  options.retry_failed = command.action == ScanAction::retry;
  return options;
}

}  // namespace

int run_scan_cells(const ScanCommand& command) {
  Result<scan::ScanSetting> setting = read_scan_setting(command);
  if (!setting) return fail(setting.error());
  const scan::ScanOptions options = scan_options(command, *std::move(setting));
  const Result<scan::ScanOutcome> outcome = run_with_progress(options, command.quiet);
  if (!outcome) return fail(outcome.error());
  const Result<BrokenCells> broken =
      count_broken(options.setting.plan, options.output, command.label);
  if (!broken) return fail(broken.error());
  if (broken->unexpected > 0 && !command.quiet) {
    print_message(fmt::format("{} not as expected (culprit scan status)",
                              scan::count_cells(broken->unexpected)));
  }
  if (broken->advice > 0 && !command.quiet) {
    print_message(fmt::format("rules of kernels are broken by {} (culprit scan status)",
                              scan::count_cells(broken->advice)));
  }
  return outcome->failed == 0 && broken->unexpected == 0 ? 0 : 1;
}

int run_scan_predict(const ScanCommand& command) {
  std::vector<scan::ScanSetting> settings;  // of both machines, before either is scanned
  for (const std::string& machine : {command.from, command.machine}) {
    if (machine == "none") return fail(Error{"a machine's cycles are asked for: none has none"});
    Result<scan::Plan> plan = scan::read_plan(command.plan);
    if (!plan) return fail(plan.error());
    plan->machine = machine;
    Result<scan::ScanSetting> setting =
        scan::make_setting(*std::move(plan), find_machines(), find_calibration());
    if (!setting) return fail(setting.error());
    setting->plugin_path = find_qemu_plugin();
    setting->label = "machine=" + machine;
    settings.push_back(*std::move(setting));
  }
  std::vector<std::string> labels;
  for (scan::ScanSetting& setting : settings) {
    labels.push_back(setting.label);
    const Result<scan::ScanOutcome> outcome =
        run_with_progress(scan_options(command, std::move(setting)), command.quiet);
    if (!outcome) return fail(outcome.error());
  }
  return print_scan_answer(command, answer_predict(command, labels[0], labels[1]));
}

int run_scan_forget(const ScanCommand& command) {
  const Result<size_t> forgotten =
      scan::forget_cells(command.scan_file(), [&](const scan::Cell& cell) {
        return scan::is_wanted(cell.name.setup, command.choice.setups) &&
               scan::is_wanted(cell.name.program, command.choice.programs);
      });
  if (!forgotten) return fail(forgotten.error());
  print_message(fmt::format("{} forgotten", scan::count_cells(*forgotten)));
  return 0;
}

}  // namespace culprit
