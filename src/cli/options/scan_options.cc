#include "cli/options/scan_options.h"

#include <algorithm>
#include <functional>

#include "base/number.h"
#include "cli/options/command_options.h"
#include "cli/options/option_words.h"

namespace culprit {
namespace {

constexpr Word<scan::PlaceLevel> kPlaceLevels[] = {{"function", scan::PlaceLevel::function},
                                                   {"line", scan::PlaceLevel::line},
                                                   {"instruction", scan::PlaceLevel::instruction}};
constexpr Word<Format> kExplainFormats[] = {{"text", Format::text}, {"json", Format::json}};
constexpr Word<PlotForm> kPlotForms[] = {{"text", PlotForm::text}, {"svg", PlotForm::svg},
                                         {"pdf", PlotForm::pdf},   {"gnuplot", PlotForm::gnuplot},
                                         {"vega", PlotForm::vega}, {"csv", PlotForm::csv}};

std::vector<uint64_t> parse_runs(const std::string& text) {
  std::vector<uint64_t> runs;
  for (const std::string_view word : split(text, ',')) {
    const auto number = find_number(word, 10);
    if (!number) throw CLI::ValidationError(fmt::format("'{}' is no list of loop counts", text));
    runs.push_back(*number);
  }
  if (const Result<void> good = scan::check_runs(runs); !good) {
    throw CLI::ValidationError(good.error().message);
  }
  return runs;
}

void add_plan(CLI::App* app, ScanCommand* command) {
  app->add_option("PLAN", command->plan, "the setup file [scan.toml]")->type_name("PLAN");
  app->add_option("-o,--output", command->file, "the scan's file [PLAN with .culprit for .toml]")
      ->type_name("FILE");
}

/// "a,b" and repeated options.
void add_patterns(CLI::App* app, const std::string& name, std::vector<std::string>* patterns,
                  const std::string& help) {
  add_each_taken(
      app, name,
      [patterns](const std::string& word) {
        for (const std::string_view one : split(word, ',')) patterns->emplace_back(one);
      },
      help, "PATTERN");
}

void add_choice(CLI::App* app, std::vector<std::string>* setups,
                std::vector<std::string>* programs) {
  add_patterns(app, "--setup", setups,
               "only setups like this: 'gcc*_O2*'; '!*fast*' leaves out; may be repeated");
  add_patterns(app, "--program", programs, "only programs like this");
}

void add_label(CLI::App* app, ScanCommand* command, const char* help) {
  app->add_option("--label", command->label, help)->type_name("TEXT");
}

void add_width(CLI::App* app, ScanCommand* command) {
  app->add_option("--width", command->width, "columns of the text [the terminal's, or 80]")
      ->type_name("N")
      ->check(in_range(size_t{60}, size_t{1000}));
}

void add_format(CLI::App* app, ScanCommand* command) {
  add_word(app, "--format", &command->format, kFormats, "how to print");
  add_width(app, command);
}

CLI::App* add_action(CLI::App* scan, ScanCommand* command, ScanAction action, const char* name,
                     const char* help) {
  CLI::App* app = scan->add_subcommand(name, help);
  app->parse_complete_callback([command, action] { command->action = action; });
  return app;
}

void add_one(CLI::App* scan, ScanCommand* command, std::string* error) {
  CLI::App* app =
      add_action(scan, command, ScanAction::one, "one",
                 "the cost of an iteration of one program, by place; needs no setup file");
  app->prefix_command();
  add_parsed(app, "--runs", &command->runs, parse_runs,
             "loop counts; two at least, a third checks them [100,300,700; "
             "20,50,100 if an iteration is long]",
             "N,N,...");
  app->add_option("--iterations-per-run", command->iterations_per_run,
                  "of programs that multiply the loop count by themselves [1]")
      ->type_name("N")
      ->check(in_range(uint64_t{1}, uint64_t{1'000'000'000}));
  app->add_option("--machine", command->machine,
                  "whose caches and cycles to model: a machine file or its name [none]")
      ->type_name("NAME|FILE");
  add_word(app, "--by", &command->level, kPlaceLevels, "rows [function]");
  app->add_option("--limit", command->limit, "rows to print; 0: all [30]")->type_name("N");
  add_format(app, command);
  app->footer(
      "\nThe program runs under the software PMU, at each loop count; {runs} in its words is "
      "where\n"
      "the count goes. Its output is not shown.\n\nExamples:\n"
      "  culprit scan one -- ./kernel {runs}\n"
      "  culprit scan one --by line -- ./kernel {runs} matrix.txt\n"
      "  culprit scan one -- ./gbench --benchmark_filter=X --benchmark_min_time={runs}x\n"
      "  culprit scan one --machine zen4 --runs 1000,3000,7000 -- ./kernel --loops={runs}");
  app->callback([app, command, error] {
    command->command = app->remaining();
    std::erase(command->command, std::string(kDashes));
    const bool has_runs =
        std::any_of(command->command.begin(), command->command.end(),
                    [](const auto& word) { return word.find("{runs}") != std::string::npos; });
    if (command->command.empty()) {
      *error = "which program? culprit scan one -- ./kernel {runs}";
    } else if (!has_runs) {
      *error = "one word of the program's must have {runs} in it: ./kernel {runs}";
    }
  });
}

/// The file, and which of its cells.
void add_selection(CLI::App* app, ScanCommand* command) {
  app->add_option("-i,--input", command->file, "the scan's file [scan.culprit]")->type_name("FILE");
  add_choice(app, &command->question.setups, &command->question.programs);
}

void add_question(CLI::App* app, ScanCommand* command) {
  app->add_option("EXPR", command->question.expression,
                  "an event, a preset (cpi, loads, ...) or an expression of them and of parameters "
                  "[instructions]")
      ->type_name("EXPR");
  app->add_option("-i,--input", command->file, "the scan's file [scan.culprit]")->type_name("FILE");
  app->add_option("--over", command->question.over,
                  "along the axis: a parameter, setup or program [the first parameter that varies]")
      ->type_name("DIM");
  app->add_option("--by", command->question.by,
                  "a row or curve for each: setup, program or a "
                  "parameter [setup]")
      ->type_name("DIM");
  add_label(app, command, "of which measurement, where the file has several [the last]");
  app->add_option("--base", command->question.base, "ratios to this row or curve")
      ->type_name("NAME");
  add_choice(app, &command->question.setups, &command->question.programs);
}

void add_predict(CLI::App* scan, ScanCommand* command) {
  CLI::App* app = add_action(scan, command, ScanAction::predict, "predict",
                             "what the cells of a plan would cost on another machine");
  add_plan(app, command);
  app->add_option("--machine", command->machine, "the other machine: a machine file or its name")
      ->type_name("NAME|FILE")
      ->required();
  app->add_option("--from", command->from, "the machine to compare it with [host]")
      ->type_name("NAME|FILE");
  add_choice(app, &command->choice.setups, &command->choice.programs);
  app->add_option("-j,--jobs", command->jobs, "cells at once [as many as there are CPUs]")
      ->type_name("N")
      ->check(in_range(1, 4096));
  app->add_flag("-q,--quiet", command->quiet, "no messages but errors");
  app->add_option("--limit", command->limit, "changes to list; 0: all [30]")->type_name("N");
  add_word(app, "--format", &command->format, kExplainFormats, "how to print");
  add_width(app, command);
  app->footer(
      "\nRuns the cells under both machine models, each under a label of its own (machine=NAME) "
      "in\n"
      "the scan's file, where that was not done, and compares modelled cycles.\n"
      "\nExamples:\n"
      "  culprit scan predict --machine zen5\n"
      "  culprit scan predict --machine ./new.toml --from zen4 --setup 'gcc*'");
}

void add_search(CLI::App* scan, ScanCommand* command) {
  CLI::App* app = add_action(scan, command, ScanAction::search, "search",
                             "which flags take the least time, without trying all of them");
  app->add_option("PLAN", command->plan, "the setup file, with a section [search] [scan.toml]")
      ->type_name("PLAN");
  add_patterns(app, "--program", &command->choice.programs,
               "only programs like this; what is searched for is the best for all together");
  app->add_option("--at", command->at, "at these values of a parameter: DIM=8, DIM=4,16")
      ->type_name("NAME=VALUE,...")
      ->allow_extra_args(false);
  app->add_option("--max-runs", command->max_runs,
                  "executions of the programs, counted and timed, at most [400]")
      ->type_name("N")
      ->check(in_range(uint64_t{40}, uint64_t{1'000'000'000}));
  app->add_option("--max-minutes", command->max_minutes, "minutes at most [no limit]")
      ->type_name("N")
      ->check(in_range(0.001, 1e6));
  app->add_option("--tolerance", command->tolerance_percent,
                  "setups that are slower than the best by less are as good, in % [1]")
      ->type_name("PERCENT")
      ->check(in_range(0.0, 100.0));
  app->add_option(
         "--machine", command->machine,
         "whose modelled cycles screen setups; none: instructions do [the plan's, or host]")
      ->type_name("NAME|FILE");
  app->add_flag("--all", command->all_setups, "tries every setup: no limit holds");
  app->add_option("--rounds", command->rounds, "of --all: how often each is timed [5]")
      ->type_name("N")
      ->check(in_range(size_t{1}, size_t{1000}));
  app->add_flag("--any-output", command->any_output,
                "setups whose programs print something else than base's may be chosen");
  app->add_option("-j,--jobs", command->jobs,
                  "setups that are built and counted at once [as many as there are CPUs]")
      ->type_name("N")
      ->check(in_range(1, 4096));
  app->add_flag("-q,--quiet", command->quiet, "no messages but errors");
  add_word(app, "--format", &command->format, kExplainFormats, "how to print");
  add_width(app, command);
  app->parse_complete_callback([app, command] {
    command->action = ScanAction::search;
    if (app->count("--machine") == 0) command->machine.clear();
  });
  app->footer(
      "\nThe plan says what may be chosen; the first value of each is where the search begins:\n"
      "  [search]\n"
      "  cc = [\"g++-12\", \"clang++-19\"]\n"
      "  O = [\"-O2\", \"-O3\"]\n"
      "  math = [\"\", \"-ffast-math\"]\n"
      "{flags} in its build command are all of these but the compiler; flags = \"{O} {math} -g\"\n"
      "says it otherwise.\n"
      "\nExamples:\n"
      "  culprit scan search --program dot --at DIM=16\n"
      "  culprit scan search --max-minutes 5 --machine none\n"
      "  culprit scan search --all --rounds 9 --format json > all.json");
}

}  // namespace

CLI::App* add_scan(CLI::App& root, ScanCommand* command, std::string* error) {
  CLI::App* scan = root.add_subcommand(
      "scan", "the same code over compilers, flags and sizes: what an iteration costs");
  scan->require_subcommand(0, 1);
  scan->footer(
      "\nExamples:\n"
      "  culprit scan one -- ./kernel {runs}        one program, by place; needs no file\n"
      "  culprit scan init kernel.cc                writes scan.toml: edit it\n"
      "  culprit scan run                           builds and runs what is missing\n"
      "  culprit scan table cpi --over DIM          a row for each setup\n"
      "  culprit scan plot loads --form svg -o loads.svg\n"
      "  culprit scan search --at DIM=16            the best flags, without trying all\n"
      "  culprit scan ACTION --help                 its options");
  add_one(scan, command, error);

  CLI::App* init = add_action(scan, command, ScanAction::init, "init",
                              "writes a setup file for a program's source");
  init->add_option("SOURCE", command->source, "the source file")->required()->type_name("SOURCE");
  init->add_option("-o,--output", command->plan, "the setup file [scan.toml]")->type_name("PLAN");
  init->footer(
      "\nExamples:\n"
      "  culprit scan init kernel.cc\n"
      "  culprit scan init -o kernels.toml kernel.f90");

  const auto add_running = [&](ScanAction action, const char* name, const char* help) {
    CLI::App* app = add_action(scan, command, action, name, help);
    add_plan(app, command);
    add_choice(app, &command->choice.setups, &command->choice.programs);
    add_label(app, command, "a name of this measurement: cells of other labels stay (commit=1a2b)");
    app->add_option("-j,--jobs", command->jobs, "cells at once [as many as there are CPUs]")
        ->type_name("N")
        ->check(in_range(1, 4096));
    app->add_flag("-q,--quiet", command->quiet, "no messages but errors");
    return app;
  };
  add_running(ScanAction::run, "run", "builds and runs cells that are missing or have changed")
      ->footer(
          "\nCtrl-C keeps what is done; the next run goes on from there.\n\nExamples:\n"
          "  culprit scan run\n"
          "  culprit scan run kernels.toml --setup 'gcc*' -j 4");
  add_running(ScanAction::retry, "retry", "the same, and those that failed, once more")
      ->footer(
          "\nExamples:\n"
          "  culprit scan retry\n"
          "  culprit scan retry kernels.toml --program vecadd");

  CLI::App* status = add_action(scan, command, ScanAction::status, "status",
                                "which cells are done, failed and why, changed, or missing");
  add_plan(status, command);
  add_choice(status, &command->choice.setups, &command->choice.programs);
  add_label(status, command, "of which measurement [of none]");
  status->add_option("--limit", command->limit, "lines to list; 0: all [30]")->type_name("N");
  add_word(status, "--format", &command->format, kExplainFormats, "how to print");
  status->footer(
      "\nExamples:\n"
      "  culprit scan status\n"
      "  culprit scan status kernels.toml --setup 'clang*' --limit 0");

  CLI::App* forget =
      add_action(scan, command, ScanAction::forget, "forget", "takes cells out of the file");
  forget->add_option("-i,--input", command->file, "the scan's file [scan.culprit]")
      ->type_name("FILE");
  add_choice(forget, &command->choice.setups, &command->choice.programs);
  forget->footer(
      "\nExamples:\n"
      "  culprit scan forget --setup 'clang14*'\n"
      "  culprit scan forget --program vecadd -i kernels.culprit");
  forget->callback([command, error] {
    if (command->choice.setups.empty() && command->choice.programs.empty()) {
      *error = "forget what? --setup PATTERN, --program PATTERN, or both ('*': all)";
    }
  });

  CLI::App* table = add_action(scan, command, ScanAction::table, "table",
                               "values of an expression, a row for each setup");
  add_question(table, command);
  add_format(table, command);
  table->footer(
      "\nExamples:\n"
      "  culprit scan table                              instructions per iteration\n"
      "  culprit scan table 'instructions / DIM' --over DIM --setup 'gcc*'\n"
      "  culprit scan table loads --over setup --by program --base vecadd");

  CLI::App* best = add_action(scan, command, ScanAction::best, "best",
                              "which setup has the least, at each size");
  add_question(best, command);
  add_each_taken(
      best, "--use",
      [command](const std::string& word) {
        Result<scan::Use> use = scan::parse_use(word);
        if (!use) throw CLI::ValidationError(use.error().message);
        command->uses.push_back(*std::move(use));
      },
      "how often a program is used: one score for all of them", "PROGRAM=COUNT");
  add_word(best, "--format", &command->format, kExplainFormats, "how to print");
  add_width(best, command);
  best->footer(
      "\nExamples:\n"
      "  culprit scan best                     instructions, by size\n"
      "  culprit scan best cycles --program 'vecadd*'\n"
      "  culprit scan best time_ns --use matmul=100 --use 'invert*=3'");

  CLI::App* diff =
      add_action(scan, command, ScanAction::diff, "diff",
                 "what costs more or less: with another setup, or since another label");
  diff->add_option("A B", command->sides, "two setups, or two labels of `scan run --label`")
      ->type_name("A B")
      ->required()
      ->expected(2);
  diff->add_option("--of", command->question.expression,
                   "an event, preset or expression [instructions]")
      ->type_name("EXPR");
  add_selection(diff, command);
  diff->add_option("--limit", command->limit, "changes to list; 0: all [30]")->type_name("N");
  add_word(diff, "--format", &command->format, kExplainFormats, "how to print");
  add_width(diff, command);
  diff->footer(
      "\nExits with 1 if something costs more in B.\n\nExamples:\n"
      "  culprit scan diff gcc12_O2 gcc12_O3\n"
      "  culprit scan run --label commit=1a2b; culprit scan diff commit=0f9e commit=1a2b");

  CLI::App* trend = add_action(scan, command, ScanAction::trend, "trend",
                               "at which label costs changed, of what, and why");
  trend
      ->add_option("EXPR", command->question.expression,
                   "an event, preset or expression [instructions]")
      ->type_name("EXPR");
  add_selection(trend, command);
  trend->add_option("--limit", command->limit, "changes to list at each label; 0: all [30]")
      ->type_name("N");
  add_word(trend, "--format", &command->format, kExplainFormats, "how to print");
  add_width(trend, command);
  trend->footer(
      "\nExamples:\n"
      "  culprit scan trend                       instructions, from label to label\n"
      "  culprit scan trend cycles --program vecadd");

  add_search(scan, command);
  add_predict(scan, command);

  CLI::App* find = add_action(scan, command, ScanAction::find, "find",
                              "cells by a text in their commands, compilers, remarks, messages, "
                              "output, executed code, or in names and hashes of the files that "
                              "they were built from");
  find->add_option("TEXT", command->words, "what to look for")->type_name("TEXT")->required();
  add_selection(find, command);
  find->add_option("--limit", command->limit, "lines to print; 0: all [30]")->type_name("N");
  add_word(find, "--format", &command->format, kExplainFormats, "how to print");
  find->footer(
      "\nExamples:\n"
      "  culprit scan find march=native\n"
      "  culprit scan find vfmadd                 instructions that iterations execute\n"
      "  culprit scan find 'not vectorized' --setup 'gcc*'");

  CLI::App* verify = add_action(scan, command, ScanAction::verify, "verify",
                                "cells of the file that are incomplete or contradict themselves");
  verify->add_option("-i,--input", command->file, "the scan's file [scan.culprit]")
      ->type_name("FILE");
  verify->add_option("--limit", command->limit, "cells to list; 0: all [30]")->type_name("N");
  add_word(verify, "--format", &command->format, kExplainFormats, "how to print");
  verify->footer(
      "\nExits with 1 if there are any.\n\nExamples:\n"
      "  culprit scan verify\n"
      "  culprit scan verify -i kernels.culprit --limit 0");

  CLI::App* explain = add_action(scan, command, ScanAction::explain, "explain",
                                 "why an iteration of one cell costs more than of another");
  explain
      ->add_option(
          "CELL", command->cells,
          "two cells: PROGRAM SETUP SIZE, PROGRAM SETUP SIZE; one: what its compiler did to "
          "loops, and what of that was executed; with --over two setups")
      ->type_name("CELL")
      ->required();
  explain->add_option("-i,--input", command->file, "the scan's file [scan.culprit]")
      ->type_name("FILE");
  add_label(explain, command, "of which measurement, where the file has several [the last]");
  explain->add_option("--limit", command->limit, "rows of code to print; 0: all [30]")
      ->type_name("N");
  add_word(explain, "--format", &command->format, kExplainFormats, "how to print");
  add_width(explain, command);
  explain->footer(
      "\nExamples:\n"
      "  culprit scan explain vecadd gcc12_O2 5 vecadd gcc12_O3 5\n"
      "  culprit scan explain 'vecadd gcc12_O2 5' 'vecadd gcc12_O3 5'\n"
      "  culprit scan explain vecadd gcc12_O3 5       vectorised loops that never ran\n"
      "  culprit scan explain gcc12_O2 gcc12_O3 --over DIM --program vecadd");
  explain
      ->add_option("--over", command->question.over,
                   "the curves of two setups over this parameter: ranges of one cause, spikes")
      ->type_name("DIM");
  add_patterns(explain, "--program", &command->question.programs,
               "with --over: only programs like this");

  CLI::App* plot =
      add_action(scan, command, ScanAction::plot, "plot", "the same as a plot, a curve for each");
  add_question(plot, command);
  add_word(plot, "--form", &command->form, kPlotForms,
           "text: in the terminal; svg, pdf: a picture; gnuplot: a script; vega: a Vega-Lite "
           "specification; csv [text; by the suffix of -o]");
  plot->add_option("-o,--output", command->output, "[standard output]")->type_name("FILE");
  add_patterns(plot, "--expect", &command->question.expected,
               "an expression that is drawn beside the curves: --expect '2*DIM'; may be repeated");
  plot->add_flag("--peak", command->question.with_peak,
                 "the most that the modelled machine can do as a line: of useful_work, ipc");
  plot->add_flag("--log-x", command->plot.log_x, "logarithmic along the axis");
  plot->add_flag("--log-y", command->plot.log_y, "logarithmic upwards");
  add_parsed(
      plot, "--theme", &command->plot.theme,
      [](const std::string& text) {
        for (const char* one : {"auto", "light", "dark"}) {
          if (text == one) return text;
        }
        throw CLI::ValidationError(fmt::format("'{}' is not one of auto, light, dark", text));
      },
      "of svg: auto follows the reader's settings [auto]", "auto|light|dark");
  add_width(plot, command);
  plot->footer(
      "\nExamples:\n"
      "  culprit scan plot                                instructions, in the terminal\n"
      "  culprit scan plot 'instructions / DIM' --over DIM --expect 2 -o cost.svg\n"
      "  culprit scan plot loads --base gcc_O2 --log-x --setup 'gcc*'");
  plot->callback([command, error] {
    if (command->form == PlotForm::pdf && command->output.empty()) {
      *error = "a PDF goes to a file: -o FILE.pdf";
    }
    if (command->form != PlotForm::text) return;
    if (command->output.ends_with(".svg")) command->form = PlotForm::svg;
    if (command->output.ends_with(".pdf")) command->form = PlotForm::pdf;
    if (command->output.ends_with(".gp")) command->form = PlotForm::gnuplot;
    if (command->output.ends_with(".csv")) command->form = PlotForm::csv;
    if (command->output.ends_with(".json")) command->form = PlotForm::vega;
  });

  scan->callback([command, error] {
    if (command->action == ScanAction::none) {
      *error =
          "which action? one, init, run, status, retry, forget, verify, find, table, best, plot, "
          "diff, trend, explain, search, predict";
    }
  });
  return scan;
}

}  // namespace culprit
