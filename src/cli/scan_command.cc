// `culprit scan`: runs the action that was asked for.

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <unistd.h>

#include "base/file.h"
#include "base/names.h"
#include "base/program_files.h"
#include "base/text.h"
#include "base/wait_status.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/open_scan.h"
#include "cli/options/scan_options.h"
#include "cli/run_program.h"
#include "cli/terminal.h"
#include "print/header_text.h"
#include "recording/started_command.h"
#include "scan/best.h"
#include "scan/campaign.h"
#include "scan/cells.h"
#include "scan/costs.h"
#include "scan/expectations.h"
#include "scan/explain.h"
#include "scan/first_plan.h"
#include "scan/place_table.h"
#include "scan/print_answer.h"
#include "scan/quantities.h"
#include "scan/run/measure.h"
#include "scan/run/run_scan.h"
#include "scan/run/scan_file.h"
#include "session/profile_view.h"
#include "session/scan_cells.h"
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

Result<void> write_new_file(const std::string& path, std::string_view text, bool may_replace) {
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (may_replace ? O_TRUNC : O_EXCL);
  const Fd file(::open(path.c_str(), flags, 0666));
  if (!file && errno == EEXIST) {
    return Error{fmt::format("'{}' is there already: remove it, or choose another (-o FILE)",
                             printable(path))};
  }
  if (!file) return errno_error("cannot write '" + path + "'", errno);
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written <= 0) return errno_error("cannot write '" + path + "'", errno);
    text.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

/// Makes a PDF of a picture, by the program that librsvg comes with.
/// Errors: it is not here; it fails
Result<void> write_pdf(const std::string& path, std::string_view svg) {
  constexpr const char* kConverter = "rsvg-convert";
  if (const auto unrunnable = check_program(kConverter)) {
    return Error{
        fmt::format("a PDF takes {} (Debian's package librsvg2-bin): {}; -o FILE.svg does "
                    "without",
                    kConverter, unrunnable->error.message)};
  }
  ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::make());
  const std::string picture = folder.path() + "/plot.svg";
  RETURN_IF_ERROR(write_new_file(picture, svg, false));
  ASSIGN_OR_RETURN(StartedCommand converter,
                   StartedCommand::start({kConverter, "-f", "pdf", "-o", path, picture}));
  while (!converter.wait(10'000)) continue;
  if (converter.wait_status() == 0) return {};
  return Error{fmt::format("{} made no '{}': {}", kConverter, printable(path),
                           describe_wait_status(converter.wait_status()))};
}

int print(const ScanCommand& command, const Result<std::string>& text) {
  if (!text) return fail(text.error());
  if (command.form == PlotForm::pdf) {
    const Result<void> written = write_pdf(command.output, *text);
    return written ? 0 : fail(written.error());
  }
  const bool to_file = !command.output.empty() && command.output != "-";
  const Result<void> written =
      to_file ? write_new_file(command.output, *text, true) : write_output(*text);
  return written ? 0 : fail(written.error());
}

// ---- one ----

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
  const FactsLookup lookup = [&](ImageId image) -> const ImageFacts* {
    const auto found = measured.facts.find(image);
    return found == measured.facts.end() ? nullptr : &found->second;
  };
  CodeIndex code(profile, lookup);
  const std::vector<scan::Cell> cells = scan::find_cells(profile);
  const auto costs = scan::CostReader(profile).compute(cells.front(), scan::function_of(code));
  if (!costs) return Error{"nothing was counted"};
  scan::PlaceTable table = scan::make_place_table(*costs, code, command.level);
  std::string words;
  for (const std::string& word : command.command) words += (words.empty() ? "" : " ") + word;
  table.title = words;
  if (command.format == Format::json) return print_place_json(table, profile, command.level);
  if (command.format == Format::csv) return print_place_csv(table, profile);
  const TextStyle style = standard_output_style(command.width);
  std::string runs;
  for (size_t i = 0; i < command.runs.size(); ++i) {
    runs += fmt::format("{}{}",
                        i == 0                         ? ""
                        : i + 1 == command.runs.size() ? " and "
                                                       : ", ",
                        command.runs[i]);
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

int run_one(const ScanCommand& command) {
  const Result<std::string> text = answer_one(command);
  if (!text) return fail(text.error());
  if (const Result<void> written = write_output(*text); !written) return fail(written.error());
  return 0;
}

/// The same command for the same setup file, and the same file of the scan.
std::string with_plan(std::string words, const ScanCommand& command) {
  if (command.plan != ScanCommand().plan) words += " " + shell_word(command.plan);
  if (!command.file.empty()) words += " -o " + shell_word(command.file);
  return printable(words);
}

/// "culprit scan table" of the file that this command looks at.
std::string with_input(std::string words, const ScanCommand& command) {
  if (command.scan_file() != ScanCommand().scan_file()) {
    words += " -i " + shell_word(command.scan_file());
  }
  return printable(words);
}

// ---- init ----

/// "clang++-19", the newest that is here; "clang++" without a version; "": none.
std::string find_newest(const std::string& clang) {
  constexpr int kNewest = 40;
  constexpr int kOldest = 6;
  if (clang.empty()) return "";
  for (int version = kNewest; version >= kOldest; --version) {
    const std::string name = fmt::format("{}-{}", clang, version);
    if (!check_program(name)) return name;
  }
  return check_program(clang) ? "" : clang;
}

int run_init(const ScanCommand& command) {
  if (!file_exists(command.source)) {
    return fail(Error{fmt::format("there is no file '{}'", printable(command.source))});
  }
  const std::string clang = find_newest(scan::find_clang_of(command.source));
  const Result<std::string> source = read_file(command.source, uint64_t{64} << 20);
  if (!source) return fail(source.error());
  const Result<std::string> plan = scan::make_first_plan(command.source, *source, clang);
  if (!plan) return fail(plan.error());
  const Result<void> written = write_new_file(command.plan, *plan, false);
  if (!written) return fail(written.error());
  print_message(fmt::format("a first setup file -> {}: edit it, then: {}", printable(command.plan),
                            with_plan("culprit scan run", command)));
  return 0;
}

// ---- run, retry ----

Result<scan::ScanSetting> read_setting(const ScanCommand& command) {
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

/// Cells of the scan that break an expectation, or the rules of kernels.
Result<size_t> count_broken(const scan::Plan& plan, const std::string& path,
                            const std::string& label);

std::string describe_outcome(const scan::ScanOutcome& outcome) {
  return fmt::format(
      "{} cells in {}{}{}", outcome.done, format_seconds(outcome.elapsed_s),
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
    print_message(fmt::format(
        "the times of {} cells are less certain than within {} %: the machine is not quiet",
        outcome.unsure, options.setting.plan.time_percent));
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

int run_cells(const ScanCommand& command) {
  Result<scan::ScanSetting> setting = read_setting(command);
  if (!setting) return fail(setting.error());
  const scan::ScanOptions options = scan_options(command, *std::move(setting));
  const Result<scan::ScanOutcome> outcome = run_with_progress(options, command.quiet);
  if (!outcome) return fail(outcome.error());
  const Result<size_t> broken = count_broken(options.setting.plan, options.output, command.label);
  if (!broken) return fail(broken.error());
  if (*broken > 0 && !command.quiet) {
    print_message(fmt::format("{} cells are not as expected (culprit scan status)", *broken));
  }
  return outcome->failed == 0 && *broken == 0 ? 0 : 1;
}

int run_predict(const ScanCommand& command) {
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
  return print(command, answer_predict(command, labels[0], labels[1]));
}

// ---- status ----

/// What is wrong with cells that were measured.
Result<std::vector<scan::Broken>> find_broken(const scan::Plan& plan, const OpenScan& open) {
  ASSIGN_OR_RETURN(std::vector<scan::Broken> broken,
                   scan::check_expectations(plan, open.quantities(), open.cells, open.costs));
  for (scan::Broken& one : scan::find_other_outputs(open.cells)) broken.push_back(std::move(one));
  for (size_t i = 0; i < open.cells.size(); ++i) {
    if (open.costs[i] && open.costs[i]->is_refused) {
      broken.push_back({i, "its cost grows with the loop count"});
    }
  }
  return broken;
}

Result<size_t> count_broken(const scan::Plan& plan, const std::string& path,
                            const std::string& label) {
  ASSIGN_OR_RETURN(const OpenScan open, open_scan(path, WhichCells::of_label, label));
  ASSIGN_OR_RETURN(const std::vector<scan::Broken> broken, find_broken(plan, open));
  return broken.size();
}

Result<scan::CampaignStatus> find_status(const ScanCommand& command) {
  ASSIGN_OR_RETURN(const scan::ScanSetting setting, read_setting(command));
  ASSIGN_OR_RETURN(const auto planned, scan::find_planned_cells(setting, command.choice));
  scan::CampaignStatus status;
  status.plan = command.plan;
  status.file = command.scan_file();
  status.label = command.label;
  status.cells = planned.size();
  std::optional<OpenScan> open;
  if (file_exists(status.file)) {
    ASSIGN_OR_RETURN(open, open_scan(status.file, WhichCells::of_label, command.label));
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
  ASSIGN_OR_RETURN(const std::vector<scan::Broken> broken, find_broken(setting.plan, *open));
  status.unexpected = broken.size();
  for (const scan::Broken& one : broken) {
    status.add(open->cells[one.cell].name.text(), scan::kUnexpected, one.text);
  }
  return status;
}

Result<std::string> answer_status(const ScanCommand& command) {
  ASSIGN_OR_RETURN(const scan::CampaignStatus status, find_status(command));
  if (command.format == Format::json) return print_status_json(status);
  const TextStyle style = standard_output_style(command.width);
  const std::string out = print_status_text(status, command.limit);
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

// ---- table, plot ----

/// The command that draws what this table tells.
std::string plot_of(const ScanCommand& command) {
  const scan::Question& question = command.question;
  std::string words = "culprit scan plot";
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words += fmt::format(" {} {}", option, shell_word(value));
  };
  if (question.expression != scan::Question().expression) {
    words += " " + shell_word(question.expression);
  }
  add("--over", question.over);
  add("--by", question.by);
  add("--base", question.base);
  add("--label", command.label);
  for (const std::string& one : question.setups) add("--setup", one);
  for (const std::string& one : question.programs) add("--program", one);
  return with_input(words, command);
}

Result<std::string> answer_question(const ScanCommand& command) {
  ASSIGN_OR_RETURN(const OpenScan open, open_scan(command));
  const scan::Quantities quantities = open.quantities();
  ASSIGN_OR_RETURN(const scan::Answer answer,
                   scan::answer(command.question, quantities, open.cells, open.costs));
  const TextStyle style = standard_output_style(command.width);
  if (command.action == ScanAction::best) {
    std::vector<scan::WeighedSeries> weighed;
    if (!command.uses.empty()) {
      ASSIGN_OR_RETURN(weighed, scan::weigh(answer, command.uses));
    }
    if (command.format == Format::json) return print_best_json(answer, weighed);
    const std::string by_place = print_best_text(answer, style);
    return weighed.empty() ? by_place : by_place + print_weighed(weighed, answer.by, style);
  }
  if (command.action == ScanAction::table) {
    if (command.format == Format::json) return print_answer_json(answer);
    if (command.format == Format::csv) return print_answer_csv(answer);
    return print_table_text(answer, style) + "\n" +
           print_next(plot_of(command), "the same as a plot", style);
  }
  switch (command.form) {
    case PlotForm::svg:
      return print_plot_svg(answer, command.plot);
    case PlotForm::pdf: {
      // Paper has one theme.
      scan::PlotOptions options = command.plot;
      if (options.theme == "auto") options.theme = "light";
      return print_plot_svg(answer, options);
    }
    case PlotForm::gnuplot:
      return print_plot_gnuplot(answer, command.plot);
    case PlotForm::vega:
      return print_plot_vega(answer, command.plot);
    case PlotForm::csv:
      return print_answer_csv(answer);
    case PlotForm::text:
      break;
  }
  return print_plot_text(answer, command.plot, style);
}

// ---- explain ----

/// The cell that some words name.
Result<size_t> find_cell(const OpenScan& open, const std::string& words) {
  std::vector<std::string> known;
  for (size_t i = 0; i < open.cells.size(); ++i) {
    known.push_back(open.cells[i].name.text());
    if (known.back() != words) continue;
    if (!open.cells[i].is_measured() || !open.costs[i]) {
      return Error{fmt::format("{} was not measured: {}", printable(words),
                               open.cells[i].detail(scan::kStatusLabel))};
    }
    if (open.costs[i]->is_refused) {
      return Error{fmt::format("{}: its cost grows with the loop count", printable(words))};
    }
    return i;
  }
  const std::string nearest = nearest_word(words, known);
  return Error{fmt::format("there is no cell '{}'{}", printable(words),
                           nearest.empty() ? "" : " (did you mean '" + printable(nearest) + "'?)")};
}

/// Two words, or twice as many as one cell's name has.
Result<std::pair<std::string, std::string>> split_cells(const std::vector<std::string>& words) {
  if (words.size() % 2 != 0) {
    return Error{"two cells: PROGRAM SETUP SIZE, and the same of the other"};
  }
  std::pair<std::string, std::string> cells;
  for (size_t i = 0; i < words.size(); ++i) {
    std::string& cell = i < words.size() / 2 ? cells.first : cells.second;
    cell += (cell.empty() ? "" : " ") + words[i];
  }
  return cells;
}

Result<std::string> answer_explain(const ScanCommand& command) {
  if (!command.question.over.empty()) return answer_curves(command);
  ASSIGN_OR_RETURN(const auto words, split_cells(command.cells));
  ASSIGN_OR_RETURN(OpenScan open, open_scan(command));
  ASSIGN_OR_RETURN(const size_t a, find_cell(open, words.first));
  ASSIGN_OR_RETURN(const size_t b, find_cell(open, words.second));
  const FactsLookup lookup = open.code_facts();
  CodeIndex code(open.view.profile(), lookup);
  const scan::Explanation explanation =
      scan::explain(open.cells[a], *open.costs[a], open.cells[b], *open.costs[b], code);
  if (command.format == Format::json) return print_explanation_json(explanation);
  return print_explanation(explanation, command.limit, standard_output_style(command.width));
}

int run_forget(const ScanCommand& command) {
  const Result<size_t> forgotten =
      scan::forget_cells(command.scan_file(), [&](const scan::Cell& cell) {
        return scan::is_wanted(cell.name.setup, command.choice.setups) &&
               scan::is_wanted(cell.name.program, command.choice.programs);
      });
  if (!forgotten) return fail(forgotten.error());
  print_message(fmt::format("{} cells forgotten", *forgotten));
  return 0;
}

}  // namespace

int run(const ScanCommand& command) {
  switch (command.action) {
    case ScanAction::one:
      return run_one(command);
    case ScanAction::init:
      return run_init(command);
    case ScanAction::run:
    case ScanAction::retry:
      return run_cells(command);
    case ScanAction::status:
      return print(command, answer_status(command));
    case ScanAction::forget:
      return run_forget(command);
    case ScanAction::diff:
      return run_scan_diff(command);
    case ScanAction::trend:
      return run_scan_trend(command);
    case ScanAction::find:
      return run_scan_find(command);
    case ScanAction::verify:
      return run_scan_verify(command);
    case ScanAction::predict:
      return run_predict(command);
    case ScanAction::search:
      return run_scan_search(command);
    case ScanAction::explain:
      return print(command, answer_explain(command));
    case ScanAction::best:
    case ScanAction::table:
    case ScanAction::plot:
      return print(command, answer_question(command));
    case ScanAction::none:
      break;
  }
  return 2;
}

}  // namespace culprit
