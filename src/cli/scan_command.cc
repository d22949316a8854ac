// `culprit scan`: runs the action that was asked for.

#include "cli/commands.h"
#include "cli/options/scan_options.h"
#include "cli/scan_actions.h"
#include "cli/scan_output.h"

namespace culprit {

int run(const ScanCommand& command) {
  switch (command.action) {
    case ScanAction::one:
      return run_scan_one(command);
    case ScanAction::init:
      return run_scan_init(command);
    case ScanAction::run:
    case ScanAction::retry:
      return run_scan_cells(command);
    case ScanAction::status:
      return print_scan_answer(command, answer_scan_status(command));
    case ScanAction::forget:
      return run_scan_forget(command);
    case ScanAction::diff:
      return run_scan_diff(command);
    case ScanAction::trend:
      return run_scan_trend(command);
    case ScanAction::find:
      return run_scan_find(command);
    case ScanAction::verify:
      return run_scan_verify(command);
    case ScanAction::predict:
      return run_scan_predict(command);
    case ScanAction::search:
      return run_scan_search(command);
    case ScanAction::explain:
      return print_scan_answer(command, answer_explain(command));
    case ScanAction::best:
    case ScanAction::table:
    case ScanAction::plot:
      return print_scan_answer(command, answer_scan_question(command));
    case ScanAction::none:
      break;
  }
  return 2;
}

}  // namespace culprit
