// `culprit scan one`: what an iteration of one program costs.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "base/names.h"
#include "base/program_files.h"
#include "base/text.h"
#include "cli/run_program.h"
#include "cli/scan_actions.h"
#include "cli/terminal.h"
#include "print/header_text.h"
#include "scan/cells.h"
#include "scan/costs.h"
#include "scan/kernel_rules.h"
#include "scan/place_table.h"
#include "scan/run/measure.h"
#include "simulate/find_machine.h"

namespace culprit {
namespace {

/// So much of what a program prints is looked at.
constexpr size_t kMostOutput = 65'536;

/// The command that tells the same by line.
std::string by_line(const ScanCommand& command) {
  const ScanCommand usual;
  std::string words = "culprit scan one --by line";
  if (command.runs != usual.runs) words += fmt::format(" --runs {}", fmt::join(command.runs, ","));
  if (command.iterations_per_run != usual.iterations_per_run) {
    words += fmt::format(" --iterations-per-run {}", command.iterations_per_run);
  }
  if (command.machine != usual.machine) words += " --machine " + shell_word(command.machine);
  words += " --";
  for (const std::string& word : command.command) {
    words += " " + (word == "{runs}" ? word : shell_word(word));
  }
  return printable(words);
}

/// The rules of kernels, but for those of which the table has words of its own.
void check_rules(const std::vector<scan::Cell>& cells, const scan::CellCosts& costs,
                 CodeIndex& code, scan::PlaceTable& table) {
  std::vector<std::string> told = {"growing"};
  if (table.rows.empty()) told.emplace_back("removed");
  scan::RuleFindings found =
      scan::check_kernel_rules(code.profile(), cells, {costs}, told,
                               [&](const Location& at) { return scan::find_own_line(code, at); });
  for (scan::Broken& one : found.broken) table.broken_rules.push_back(std::move(one.text));
  table.undecided_rules = std::move(found.undecided);
}

Result<std::string> answer_one(const ScanCommand& command) {
  scan::MeasureOptions options;
  options.command = command.command;
  options.runs = command.runs;
  options.plugin_path = find_qemu_plugin();
  options.with_source = true;
  if (command.machine != "none") {
    ASSIGN_OR_RETURN(options.machine,
                     find_machine(command.machine, find_machines(), find_calibration()));
  }
  ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::make());
  options.output_file = folder.path() + "/output";
  ASSIGN_OR_RETURN(scan::Measured measured, scan::measure(options));
  for (const std::string& remark : measured.remarks) print_message(remark);
  if (measured.crashed) {
    const Result<std::string> output = read_file(options.output_file);
    return Error{fmt::format("the program ended by itself: {}\n{}", measured.failure,
                             output ? printable(output->substr(0, 2000)) : "")};
  }
  Profile& profile = measured.profile;
  for (Run& run : profile.runs) scan::label_run(profile.strings, run, {command.command[0], "", {}});
  scan::label_run(profile.strings, profile.runs.front(), scan::kStatusLabel, scan::kMeasured);
  scan::label_run(profile.strings, profile.runs.front(), scan::kPerRunLabel,
                  std::to_string(command.iterations_per_run));
  const Result<std::string> output = read_file(options.output_file);
  if (output) {
    scan::label_run(profile.strings, profile.runs.front(), scan::kOutputLabel,
                    output->substr(0, kMostOutput));
  }
  scan::label_run(profile.strings, profile.runs.front(), scan::kFloatLabel, measured.float_events);
  const FactsLookup lookup = [&](ImageId image) -> const ImageFacts* {
    const auto found = measured.facts.find(image);
    return found == measured.facts.end() ? nullptr : &found->second;
  };
  CodeIndex code(profile, lookup);
  const std::vector<scan::Cell> cells = scan::find_cells(profile);
  const auto costs = scan::CostReader(profile).compute(cells.front(), scan::function_of(code),
                                                       scan::CostDetail::places);
  if (!costs) return Error{"nothing was counted"};
  scan::PlaceTable table = scan::make_place_table(*costs, code, command.level);
  check_rules(cells, *costs, code, table);
  std::string words;
  for (const std::string& word : command.command) words += (words.empty() ? "" : " ") + word;
  table.title = words;
  if (command.format == Format::json) return print_place_json(table, profile, command.level);
  if (command.format == Format::csv) return print_place_csv(table, profile);
  const TextStyle style = standard_output_style(command.width);
  std::string runs;
  for (size_t i = 0; i < measured.runs.size(); ++i) {
    runs += fmt::format("{}{}",
                        i == 0                          ? ""
                        : i + 1 == measured.runs.size() ? " and "
                                                        : ", ",
                        measured.runs[i]);
  }
  std::string out = fmt::format(
      "{}   an iteration, from runs of {}{}{}\n\n", printable(words), runs,
      command.iterations_per_run == 1 ? "" : fmt::format(" x {}", command.iterations_per_run),
      command.machine == "none" ? "" : "   machine " + command.machine);
  out += print_place_table(table, profile, command.level, command.limit, style);
  if (!measured.failure.empty()) {
    out += print_labelled("Note", "the program ended with " + measured.failure, style);
  }
  if (command.level == scan::PlaceLevel::function && !table.is_refused) {
    out += print_next(by_line(command), "the same by line; --by instruction", style);
  }
  return out;
}

}  // namespace

int run_scan_one(const ScanCommand& command) {
  const Result<std::string> text = answer_one(command);
  if (!text) return fail(text.error());
  if (const Result<void> written = write_output(*text); !written) return fail(written.error());
  return 0;
}

}  // namespace culprit
