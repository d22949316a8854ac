#include "cli/scan_status.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/file.h"
#include "base/program_files.h"
#include "base/text.h"
#include "cli/open_scan.h"
#include "cli/scan_actions.h"
#include "cli/scan_output.h"
#include "cli/terminal.h"
#include "print/header_text.h"
#include "scan/campaign.h"
#include "scan/expectations.h"
#include "scan/kernel_rules.h"
#include "scan/place_table.h"
#include "scan/run/measure.h"
#include "session/scan_cells.h"
#include "simulate/find_machine.h"

namespace culprit {
namespace {

/// What is wrong with cells that were measured.
Result<scan::RuleFindings> find_breaches(const scan::Plan& plan, const OpenScan& open) {
  ASSIGN_OR_RETURN(const std::vector<scan::Broken> broken,
                   scan::check_expectations(plan, open.quantities(), open.cells, open.costs));
  const FactsLookup lookup = open.code_facts();
  CodeIndex code(open.view.profile(), lookup);
  scan::RuleFindings findings =
      scan::check_kernel_rules(open.view.profile(), open.cells, open.costs, plan.accepted,
                               [&](const Location& at) { return scan::find_own_line(code, at); });
  findings.broken.insert(findings.broken.begin(), broken.begin(), broken.end());
  return findings;
}

Result<scan::CampaignStatus> find_status(const ScanCommand& command) {
  ASSIGN_OR_RETURN(const scan::ScanSetting setting, read_scan_setting(command));
  ASSIGN_OR_RETURN(const auto planned, scan::find_planned_cells(setting, command.choice));
  scan::CampaignStatus status;
  status.plan = command.plan;
  status.file = command.scan_file();
  status.label = command.label;
  status.cells = planned.size();
  std::optional<OpenScan> open;
  if (file_exists(status.file)) {
    ASSIGN_OR_RETURN(open, open_scan(status.file, scan::CostDetail::places, WhichCells::of_label,
                                     command.label));
  }
  const std::vector<scan::Cell> held = open ? open->cells : std::vector<scan::Cell>();
  ASSIGN_OR_RETURN(const auto states, scan::find_states(setting, planned, held));
  for (size_t i = 0; i < planned.size(); ++i) {
    const std::string name = planned[i].name.text();
    switch (states[i]) {
      case scan::CellState::done:
        ++status.done;
        break;
      case scan::CellState::changed:
        ++status.changed;
        status.add(name, "changed", "");
        break;
      case scan::CellState::missing:
        ++status.missing;
        status.add(name, "missing", "");
        break;
      case scan::CellState::failed:
        ++status.failed;
        const auto cell = std::find_if(held.begin(), held.end(), [&](const scan::Cell& one) {
          return one.name.text() == name;
        });
        if (cell == held.end()) break;
        status.add(name, cell->detail(scan::kStatusLabel), cell->detail(scan::kMessageLabel));
        break;
    }
  }
  if (!open) return status;
  ASSIGN_OR_RETURN(scan::RuleFindings found, find_breaches(setting.plan, *open));
  std::set<size_t> unexpected;  // cells, each of which may break several
  for (const scan::Broken& one : found.broken) unexpected.insert(one.cell);
  status.unexpected = unexpected.size();
  status.undecided = std::move(found.undecided);
  for (const scan::Broken& one : found.broken) {
    status.add(open->cells[one.cell].name.text(), scan::kUnexpected, one.text);
  }
  return status;
}

}  // namespace

Result<scan::ScanSetting> read_scan_setting(const ScanCommand& command) {
  ASSIGN_OR_RETURN(scan::ScanSetting setting,
                   scan::read_setting(command.plan, find_machines(), find_calibration()));
  setting.plugin_path = find_qemu_plugin();
  setting.label = command.label;
  // A name that nothing has is told before cells are run for hours.
  ASSIGN_OR_RETURN(const std::vector<scan::Preset> presets, read_scan_presets());
  RETURN_IF_ERROR(scan::read_expectations(
      setting.plan, scan::counted_events(setting.machine.has_value()), presets));
  return setting;
}

Result<BrokenCells> count_broken(const scan::Plan& plan, const std::string& path,
                                 const std::string& label) {
  ASSIGN_OR_RETURN(const OpenScan open,
                   open_scan(path, scan::CostDetail::places, WhichCells::of_label, label));
  ASSIGN_OR_RETURN(const scan::RuleFindings found, find_breaches(plan, open));
  std::set<size_t> unexpected;
  std::set<size_t> advised;
  for (const scan::Broken& one : found.broken)
    (one.is_advice ? advised : unexpected).insert(one.cell);
  return BrokenCells{unexpected.size(), advised.size()};
}

Result<std::string> answer_scan_status(const ScanCommand& command) {
  ASSIGN_OR_RETURN(const scan::CampaignStatus status, find_status(command));
  if (command.format == Format::json) return print_status_json(status);
  const TextStyle style = standard_output_style(command.width);
  std::string out = print_status_text(status, command.limit);
  for (const std::string& one : status.undecided)
    out += print_labelled("Unknown", printable(one), style);
  if (status.changed + status.missing > 0) {
    return out + print_next(with_plan("culprit scan run", command),
                            "runs what is changed or missing", style);
  }
  if (status.failed > 0) {
    return out + print_next(with_plan("culprit scan retry", command),
                            "runs those that failed once more", style);
  }
  return out +
         print_next(with_input("culprit scan table", command), "instructions per iteration", style);
}

}  // namespace culprit
