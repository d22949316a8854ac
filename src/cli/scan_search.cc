// `culprit scan search`: which flags are the best for some programs, without trying all.

#include <fmt/format.h>

#include "base/file.h"
#include "base/names.h"
#include "base/program_files.h"
#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/options/scan_options.h"
#include "cli/scan_actions.h"
#include "cli/terminal.h"
#include "scan/print_search.h"
#include "scan/run/setup_runner.h"
#include "scan/search.h"
#include "session/scan_cells.h"
#include "simulate/find_machine.h"

namespace culprit {
namespace {

/// The plan's own parameters, each with the values that were asked for.
Result<void> choose_sizes(const std::vector<std::string>& at, scan::Plan& plan) {
  for (const std::string& one : at) {
    const size_t equals = one.find('=');
    const std::string name = one.substr(0, equals);
    scan::Parameter* found = nullptr;
    for (scan::Parameter& parameter : plan.parameters) {
      if (parameter.name == name) found = &parameter;
    }
    if (equals == std::string::npos || found == nullptr) {
      return Error{
          fmt::format("--at '{}': the plan has no such parameter (--at DIM=8)", printable(one))};
    }
    found->values.clear();
    for (const std::string_view value : split(std::string_view(one).substr(equals + 1), ',')) {
      if (!value.empty()) found->values.emplace_back(value);
    }
    if (found->values.empty()) return Error{fmt::format("--at '{}' has no value", printable(one))};
  }
  return {};
}

struct Prepared {
  scan::SetupRunnerOptions options;
  scan::SearchSubject subject;
};

Result<Prepared> prepare(const ScanCommand& command) {
  Prepared prepared;
  scan::SetupRunnerOptions& options = prepared.options;
  ASSIGN_OR_RETURN(scan::Plan plan, scan::read_plan(command.plan));
  if (plan.search.factors.empty()) {
    return Error{
        fmt::format("{} has no section [search]: a list of values for each factor, such as "
                    "O = [\"-O2\", \"-O3\"] (culprit scan search --help)",
                    printable(command.plan))};
  }
  if (!command.machine.empty()) plan.machine = command.machine;
  if (command.machine.empty() && plan.machine == "none") plan.machine = "host";
  RETURN_IF_ERROR(choose_sizes(command.at, plan));
  // The search has setups of its own; its base stands for them among the cells.
  ASSIGN_OR_RETURN(const scan::Setup base,
                   scan::make_setup(plan.search, scan::Levels(plan.search.factors.size())));
  plan.setups = {{"", base.variables}};
  ASSIGN_OR_RETURN(options.setting,
                   scan::make_setting(std::move(plan), find_machines(), find_calibration()));
  options.setting.plugin_path = find_qemu_plugin();
  ASSIGN_OR_RETURN(options.cells,
                   scan::find_planned_cells(options.setting, {{}, command.choice.programs}));
  if (options.cells.empty()) return Error{"no program of the plan matches --program"};
  options.jobs = command.jobs;
  options.accepts_other_output = command.any_output;
  ASSIGN_OR_RETURN(options.presets, read_scan_presets());
  std::string& words = prepared.subject.cells;
  for (size_t i = 0; i < std::min<size_t>(options.cells.size(), 3); ++i) {
    scan::CellName name = options.cells[i].name;
    words += (i == 0 ? "" : ", ") + name.program;
    for (const scan::Variable& one : name.parameters) words += " " + one.value;
  }
  if (options.cells.size() > 3) words += fmt::format(" and {} more", options.cells.size() - 3);
  const std::string& machine = options.setting.plan.machine;
  prepared.subject.screen =
      machine == "none" ? "instructions" : "modelled cycles of machine " + machine;
  return prepared;
}

}  // namespace

int run_scan_search(const ScanCommand& command) {
  Result<Prepared> prepared = prepare(command);
  if (!prepared) return fail(prepared.error());
  const scan::SearchSpace space = prepared->options.setting.plan.search;
  const InterruptGuard guard;
  ProgressLine line;
  const auto show = [&](const scan::SearchProgress& now) {
    if (!command.quiet) {
      line.show(fmt::format("{} setups, {} runs, {:.0f} s: {}", now.screened, now.runs,
                            now.elapsed_s, now.doing));
    }
    return !guard.is_interrupted();
  };
  Result<scan::SetupRunner> runner = scan::SetupRunner::make(std::move(prepared->options), show);
  if (!runner) return fail(runner.error());
  scan::SearchLimits limits;
  limits.runs = command.max_runs;
  if (command.max_minutes > 0) limits.seconds = 60 * command.max_minutes;
  limits.tolerance = command.tolerance_percent / 100;
  const Result<scan::SearchResult> result =
      command.all_setups ? scan::try_all(space, command.rounds, limits.tolerance, *runner)
                         : scan::search(space, limits, *runner);
  line.clear();
  if (!result) return fail(result.error());
  const Result<std::string> text = command.format == Format::json
                                       ? print_search_json(*result, space, prepared->subject)
                                       : print_search_text(*result, space, prepared->subject,
                                                           standard_output_style(command.width));
  if (!text) return fail(text.error());
  if (const Result<void> written = write_output(*text); !written) return fail(written.error());
  return 0;
}

}  // namespace culprit
