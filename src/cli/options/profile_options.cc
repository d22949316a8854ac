#include "base/names.h"
#include "base/text.h"
#include "cli/options/command_options.h"
#include "cli/options/option_words.h"

namespace culprit {

namespace {

constexpr Word<RowLevel> kLevels[] = {{"process", RowLevel::process},
                                      {"comm", RowLevel::comm},
                                      {"thread", RowLevel::thread},
                                      {"module", RowLevel::module},
                                      {"function", RowLevel::function},
                                      {"line", RowLevel::line},
                                      {"loop", RowLevel::loop},
                                      {"block", RowLevel::block},
                                      {"instruction", RowLevel::instruction},
                                      {"object", RowLevel::object},
                                      {"region", RowLevel::region}};
constexpr Word<ExportFormat> kExportFormats[] = {{"collapsed", ExportFormat::collapsed},
                                                 {"pprof", ExportFormat::pprof},
                                                 {"callgrind", ExportFormat::callgrind},
                                                 {"autofdo", ExportFormat::autofdo},
                                                 {"bolt", ExportFormat::bolt},
                                                 {"dot", ExportFormat::dot},
                                                 {"json", ExportFormat::json},
                                                 {"csv", ExportFormat::csv},
                                                 {"html", ExportFormat::html}};
/// Programs that somebody may name instead of a format that they open.
constexpr Word<const char*> kReaders[] = {{"speedscope", "pprof or collapsed"},
                                          {"flamegraph", "collapsed"},
                                          {"firefox", "collapsed"},
                                          {"perfetto", "pprof"},
                                          {"kcachegrind", "callgrind"},
                                          {"qcachegrind", "callgrind"},
                                          {"graphviz", "dot"}};
constexpr Word<Tree> kTrees[] = {{"callers", Tree::callers}, {"callees", Tree::callees}};
constexpr Word<Columns> kColumns[] = {
    {"events", Columns::events},       {"executions", Columns::executions},
    {"frequency", Columns::frequency}, {"hca", Columns::hca},
    {"waits", Columns::waits},         {"latency", Columns::latency}};
constexpr Word<bool> kAnnotateColumns[] = {{"counts", false}, {"locality", true}};
constexpr Word<bool> kFacts[] = {{"counts", false}, {"all", true}};
constexpr Word<Format> kEventFormats[] = {{"text", Format::text}, {"json", Format::json}};

/// "events", "events:L1-dcache-load-misses,instructions", "hca", "hca:load_latency".
void parse_columns(const std::string& text, ReportCommand* command) {
  const size_t colon = text.find(':');
  if (text == "latency,source") return parse_columns("latency", command);  // it tells them, too
  command->question.report.columns = parse_word(kColumns, text.substr(0, colon));
  command->question.costs.detail.reset();
  command->question.report.events.clear();
  if (colon == std::string::npos) return;
  if (command->question.report.columns == Columns::events) {
    for (const std::string_view name : split(std::string_view(text).substr(colon + 1), ',')) {
      command->question.report.events.emplace_back(name);
    }
    return;
  }
  if (command->question.report.columns != Columns::hca) {
    throw CLI::ValidationError("only events and hca have columns to choose from");
  }
  std::vector<Word<CostBranch>> branches;
  for (auto i = static_cast<uint8_t>(kFirstStalled); i < static_cast<uint8_t>(CostBranch::general);
       ++i) {
    branches.push_back({branch_key(static_cast<CostBranch>(i)).data(), static_cast<CostBranch>(i)});
  }
  command->question.costs.detail =
      parse_word(std::span<const Word<CostBranch>>(branches), text.substr(colon + 1));
}

void add_template(CLI::App* app, std::string* cpu) {
  app->add_option("--template", *cpu,
                  "which events are which cycles: a name that `culprit templates` lists, or a file "
                  "[by the CPU of the recording]")
      ->type_name("NAME|FILE");
}

ExportFormat parse_export_format(const std::string& text) {
  for (const auto& [reader, formats] : kReaders) {
    if (is_same_word(text, reader)) {
      throw CLI::ValidationError(fmt::format("{} opens --to {}", reader, formats));
    }
  }
  return parse_word(kExportFormats, text);
}

}  // namespace

void add_input(CLI::App* app, std::string* file) {
  app->add_option("FILE,-i,--input", *file, "the profile [profile.culprit]")->type_name("FILE");
}

void add_levels(CLI::App* app, std::vector<RowLevel>* by, bool* by_time) {
  add_taken<std::vector<std::string>>(
      app, "--by",
      [by, by_time](const std::vector<std::string>& words) {
        by->clear();
        for (const std::string& word : words) {
          for (const std::string_view level : split(word, ',')) {
            if (by_time != nullptr && is_same_word(std::string(level), "time")) {
              *by_time = true;
            } else {
              by->push_back(parse_word(kLevels, std::string(level)));
            }
          }
        }
      },
      fmt::format("process, comm (processes of one name together), thread, module, function, "
                  "line, loop, block, instruction, object (of data: record --objects or "
                  "--data), {}region "
                  "(record --regions){}; may be repeated [function]",
                  by_time == nullptr ? "or " : "",
                  by_time == nullptr ? "" : ", or time (with process, comm, thread, region)"),
      "LEVEL")
      ->allow_extra_args(false);
}

void add_presentation(CLI::App* app, Format* format, size_t* width) {
  add_word(app, "--format", format, kFormats, "how to print");
  app->add_option("--width", *width, "columns of the text [the terminal's, or 80]")
      ->type_name("N")
      ->check(in_range(size_t{60}, size_t{1000}));
}

void add_snapshot_options(CLI::App* app, SnapshotOptions* options) {
  app->add_option("--symbols", options->symbol_folders,
                  "folder with binaries and debug files: a sysroot, a flat folder, or one with "
                  ".build-id/; may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false);
  add_off_flag(app, "--no-source", &options->with_source, "leave source text out of the profile");
  add_word(
      app, "--facts", &options->all_functions, kFacts,
      "which functions the profile names: counts (those with counts), or all of the files that "
      "have any");
  add_off_flag(app, "--no-debuginfod", &options->use_debuginfod,
               "do not ask the servers in DEBUGINFOD_URLS");
}

CLI::App* add_report(CLI::App& root, ReportCommand* command, std::string* error) {
  CLI::App* app = root.add_subcommand("report", "a table of where the time went");
  ReportOptions* report = &command->question.report;
  add_input(app, &command->file);
  add_levels(app, &report->by, &command->question.by_time);
  add_word(app, "--tree", &report->tree, kTrees,
           "callees: from the outermost caller down; callers: from each function up");
  add_taken(
      app, "--columns", [command](const std::string& text) { parse_columns(text, command); },
      "events; events:NAME,...: these beside the first one; executions: what branch records say "
      "(record -b): executions, calls, "
      "mispredictions; frequency: how often it ran, by the best source there is (simulated, "
      "branch "
      "records, sampled instructions); hca: what took the cycles, by a template; hca:BRANCH: "
      "one branch "
      "(load_latency, ...) in detail [events]",
      "COLUMNS");
  add_template(app, &command->question.cpu);
  for (const Word<RowLevel>& level : kLevels) {
    const bool has_no_filter = level.value == RowLevel::comm || level.value == RowLevel::loop ||
                               level.value == RowLevel::block ||
                               level.value == RowLevel::instruction;
    if (has_no_filter) continue;
    add_each_taken(
        app, fmt::format("--{}", level.word),
        [report, value = level.value](const std::string& pattern) {
          report->filters.push_back({value, pattern});
        },
        fmt::format("only this {}: a name or a pattern like 'std::*'", level.word), "PATTERN");
  }
  app->add_option("--address-masks", report->address_masks,
                  "of ranges (record --range), also what N registers with address masks would "
                  "have covered: four on Itanium 2")
      ->type_name("N")
      ->check(in_range(1, 16));
  // Given two texts, CLI11 cannot tell in C++20 which is the description.
  CLI::Option* off_cpu = app->add_flag("--off-cpu");
  off_cpu->description("time off the CPU (record --off-cpu), by who called what [--tree callees]");
  CLI::Option* never = app->add_flag("--never", command->never);
  never->description("lines of functions that ran, which never did (record --engine simulate)");
  for (const char* other : {"--tree", "--columns", "--off-cpu"}) never->excludes(other);
  app->add_option("--sort", report->sort, "by this column [the first event, falling]")
      ->type_name("COLUMN");
  CLI::Option* limit =
      app->add_option("--limit", report->limit, "rows, or slices of time, to print; 0: all [30]")
          ->type_name("N");
  app->add_option("--min-percent", report->minimum_percent, "leave smaller rows out")
      ->type_name("P")
      ->check(in_range(0.0, 100.0));
  add_epoch_choice(app, &command->epochs);
  add_presentation(app, &command->format, &command->width);
  app->footer(
      "\nExamples:\n"
      "  culprit report                              functions\n"
      "  culprit report --by module,function         functions within modules\n"
      "  culprit report --by line --function main    lines of one function\n"
      "  culprit report --by loop                    innermost loops, by the code's jumps\n"
      "  culprit report --by object,line             data and who accesses them (record "
      "--objects)\n"
      "  culprit report --by region,function         in which OpenMP construct (record --regions)\n"
      "  culprit report --by time                    how it went over time\n"
      "  culprit report --by time,thread             what each thread did when\n"
      "  culprit report --tree callees               who called what (record -g)\n"
      "  culprit report --off-cpu                    what it waited for (record --off-cpu)\n"
      "  culprit report --columns executions         how often it ran (record -b)\n"
      "  culprit report --by loop --columns frequency   rounds of loops, and what one takes\n"
      "  culprit report --by line --never            coverage of a simulated run\n"
      "  culprit report --columns latency            sampled accesses: how long, where from\n"
      "  culprit report --by object --columns latency   to which data (record --data)\n"
      "  culprit report --columns hca                what took the cycles of each function\n"
      "  culprit report --since 2h                   of what culprit daemon collected\n"
      "  culprit report --format json --limit 0      for programs");
  app->callback([app, command, limit, off_cpu, error] {
    if (off_cpu->count() > 0) {
      ReportOptions& report = command->question.report;
      report.columns = Columns::waits;
      const bool says_form = app->count("--by") > 0 || app->count("--tree") > 0;
      if (!says_form) report.tree = Tree::callees;
    }
    if (command->never && command->question.report.by != std::vector{RowLevel::line}) {
      *error = "--never tells lines: --by line --never";
    }
    if (app->count("--template") > 0 && command->question.report.columns != Columns::hca) {
      *error = "--template says which events are which cycles: it is for --columns hca";
    }
    // Programs want everything; people want a page.
    if (command->format != Format::text && limit->count() == 0) command->question.report.limit = 0;
  });
  return app;
}

CLI::App* add_annotate(CLI::App& root, AnnotateCommand* command, std::string* error) {
  CLI::App* app = root.add_subcommand("annotate", "source and assembly of a function, with costs");
  app->add_option("FUNCTION", command->question.function, "a name or a pattern")->required();
  add_input(app, &command->file);
  app->add_option("--module", command->question.module, "only in this module (name or pattern)")
      ->type_name("PATTERN");
  app->add_option("--copy", command->question.copy,
                  "which one, where several match, by their counts [1: the one with most]")
      ->type_name("N")
      ->check(in_range(size_t{1}, size_t{1000000}));
  add_off_flag(app, "--no-source", &command->question.show_source, "assembly only");
  add_off_flag(app, "--no-assembly", &command->question.show_assembly, "source only");
  app->add_option_function<size_t>(
         "--hot",
         [command](const size_t& blocks) {
           command->question.hottest_first = true;
           command->question.limit = blocks;
         },
         "the N blocks (lines) with most, hottest first: --hottest --limit N")
      ->type_name("N")
      ->check(in_range(size_t{1}, size_t{1000000}));
  app->add_flag("--hottest", command->question.hottest_first,
                "the blocks (lines) with most first, not in the order of the code");
  app->add_option("--limit", command->question.limit, "only so many, the hottest; 0: all [0]")
      ->type_name("N");
  add_word(
      app, "--columns", &command->question.with_locality, kAnnotateColumns,
      "beside the counts: locality, what became of the lines that each instruction brought into "
      "L1D (record --locality) [counts]");
  add_epoch_choice(app, &command->epochs);
  add_presentation(app, &command->format, &command->width);
  app->footer(
      "\nExamples:\n"
      "  culprit annotate main\n"
      "  culprit annotate main --hot 5               its five hottest blocks\n"
      "  culprit annotate main --columns locality    (record --locality all)\n"
      "  culprit annotate 'sort_*' --no-assembly run.culprit");
  app->callback([app, command, error] {
    const std::string& function = command->question.function;
    if (app->count("FILE") == 0 && names_profile(function)) {
      *error = fmt::format(
          "{} is a profile; of which function? culprit annotate FUNCTION {} (culprit report --by "
          "function {} lists them)",
          in_quotes(function), shell_word(function), shell_word(function));
    }
    if (command->question.with_locality && command->format != Format::text) {
      *error = "--columns locality is for text; culprit locality --by instruction has JSON and CSV";
    }
  });
  return app;
}

CLI::App* add_why(CLI::App& root, WhyCommand* command, std::string* error) {
  CLI::App* app = root.add_subcommand("why", "what took the cycles, and what to change");
  app->add_option("FILE,-i,--input", command->files,
                  "the profile [profile.culprit]; two are compared")
      ->type_name("FILE")
      ->expected(1, 2);
  app->add_option(
         "--in", command->question.part,
         "only this function or module (a name or a pattern); with --stalls a loop, too, by "
         "the address of its head")
      ->type_name("PATTERN");
  app->add_option("--in-region", command->question.region,
                  "only this OpenMP construct or marked region, and what is in it (a name or a "
                  "pattern, as `culprit report --by region` has it)")
      ->type_name("PATTERN");
  app->add_option(
         "--in-object", command->question.object,
         "only the accesses of this data object (a name or a pattern, as `culprit data` has "
         "it): what waiting for it cost, of record --objects")
      ->type_name("PATTERN");
  app->add_flag("--stalls", command->stalls,
                "measured cycles beyond the best case of the code, and what cannot be ruled out as "
                "their cause, with bounds");
  add_template(app, &command->question.cpu);
  app->add_flag("--events", command->question.why.show_events,
                "every event, also those that only inform or cost next to nothing");
  add_epoch_choice(app, &command->epochs);
  add_presentation(app, &command->format, &command->width);
  app->footer(
      "\nExamples:\n"
      "  culprit record --engine simulate ./a.out && culprit why\n"
      "  culprit why --in sort_rows                  of one function\n"
      "  culprit why --in-region 'loop *'            of some regions (record --regions)\n"
      "  culprit why --in-object table               of accesses to data (record --objects)\n"
      "  culprit why --stalls --in sort_rows         what its instructions waited for\n"
      "  culprit why before.culprit after.culprit    side by side\n"
      "  culprit why --events --template zen4 run.culprit");
  app->callback([command, error] {
    if (command->files.empty()) command->files.emplace_back(kDefaultProfile);
    if (command->stalls && (command->files.size() == 2 || command->format == Format::csv)) {
      *error = "--stalls is of one profile, as text or as JSON";
    }
    if (command->stalls && !command->question.object.empty()) {
      *error = "--stalls is of code: culprit why --in-object has what waiting for data cost";
    }
    if (command->stalls && !command->question.region.empty()) {
      *error = "--stalls is of code: --in takes a function, a module or a loop";
    }
    if (command->files.size() == 2 && command->format == Format::csv) {
      *error = "two profiles are compared as text or as JSON";
    }
  });
  return app;
}

CLI::App* add_regions(CLI::App& root, RegionsCommand* command, std::string* /*error*/) {
  CLI::App* app = root.add_subcommand("regions", "what OpenMP constructs took, by thread");
  app->add_option("FILE,-i,--input", command->files,
                  "the profile [profile.culprit]; several: those of the ranks of one MPI program, "
                  "together")
      ->type_name("FILE...");
  app->add_option("--limit", command->print.limit,
                  "constructs of the flat profile, those with most time; 0: all [20]")
      ->type_name("N");
  app->add_option("--counter", command->events,
                  "an event of which each construct shows what it counted; may be repeated "
                  "[instructions, cycles, loads and misses, where they were counted]")
      ->type_name("EVENT")
      ->allow_extra_args(false);
  app->add_option("--object", command->object,
                  "count accesses to this data object alone: a name or a pattern, as report --by "
                  "object has them")
      ->type_name("NAME");
  add_presentation(app, &command->format, &command->width);
  app->footer(
      "\nExamples:\n"
      "  culprit record --regions ./a.out && culprit regions\n"
      "  culprit record --regions --engine simulate ./a.out && culprit regions\n"
      "  mpirun -n 4 culprit record --regions ./a.out && culprit regions profile.rank*.culprit\n"
      "  culprit regions --counter fp-loads           one event alone\n"
      "  culprit regions --object a                   accesses to a alone (record --range a)\n"
      "  culprit regions --format csv run.culprit     a row per construct and thread");
  return app;
}

CLI::App* add_export(CLI::App& root, ExportCommand* command, std::string* error) {
  CLI::App* app = root.add_subcommand("export", "the profile for other programs");
  add_input(app, &command->file);
  CLI::Option* to = add_parsed(
      app, "--to", &command->question.to, parse_export_format,
      "collapsed: folded stacks, for flame graphs; pprof: gzip'd "
      "profile.proto; callgrind: for KCachegrind; autofdo: LLVM's text "
      "sample profile; bolt: for perf2bolt --pa; dot: for Graphviz, the "
      "blocks of one function, or who calls whom; json, csv: every address; html: one file "
      "for a browser, with everything",
      "FORMAT");
  to->required();
  app->add_option("-o,--output", command->output, "[standard output]")->type_name("FILE");
  add_force(app, &command->force);
  add_parsed(app, "--max-size", &command->most_bytes, parse_bytes,
             "html: leave out the code of functions beyond that [10M]", "BYTES");
  add_epoch_choice(app, &command->epochs);
  CLI::Option* image =
      app->add_option("--image", command->question.image,
                      "autofdo, bolt, dot: this image only (a path, a file name or a pattern) "
                      "[the one with most branch records; dot: any]");
  image->type_name("PATTERN");
  CLI::Option* function =
      app->add_option("--function", command->question.function,
                      "dot: the blocks of this function (a name or a pattern) [calls between all, "
                      "by branch records]");
  function->type_name("NAME");
  CLI::Option* limit = app->add_option("--limit", command->question.limit,
                                       "dot without --function: so many functions; 0: all [40]");
  limit->type_name("N");
  CLI::Option* minimum = app->add_option("--min-percent", command->question.minimum_percent,
                                         "dot without --function: leave smaller ones out");
  minimum->type_name("P")->check(in_range(0.0, 100.0));
  app->footer(
      "\nExamples:\n"
      "  culprit export --to collapsed | flamegraph.pl > flame.svg\n"
      "  culprit export --to pprof -o run.pb.gz && pprof -http=: run.pb.gz\n"
      "  culprit export --to callgrind -o callgrind.out.run && kcachegrind callgrind.out.run\n"
      "  culprit export --to dot --function main | dot -Tsvg > main.svg\n"
      "  culprit export --to csv -o addresses.csv run.culprit\n"
      "  culprit export --to html -o run.html       the page of culprit serve, as one file\n\n"
      "From branch records (record -b):\n"
      "  culprit export --to dot | dot -Tsvg > calls.svg\n"
      "  culprit export --to autofdo -o run.prof && clang++ -fprofile-sample-use=run.prof ...\n"
      "  culprit export --to bolt -o run.pa && perf2bolt --pa -p run.pa -o run.fdata ./a.out");
  app->callback([command, image, function, limit, minimum, error] {
    const ExportFormat format = command->question.to;
    const bool takes_image = format == ExportFormat::autofdo || format == ExportFormat::bolt ||
                             format == ExportFormat::dot;
    const bool draws_calls = format == ExportFormat::dot && command->question.function.empty();
    if (!draws_calls && (limit->count() > 0 || minimum->count() > 0)) {
      *error = "--limit and --min-percent are for --to dot without --function only";
    } else if (format != ExportFormat::dot && function->count() > 0) {
      *error = "--function is for --to dot only";
    } else if (!takes_image && image->count() > 0) {
      *error = "--image is for --to autofdo, bolt and dot only";
    }
  });
  return app;
}

CLI::App* add_import(CLI::App& root, ImportCommand* command, std::string* /*error*/) {
  CLI::App* app = root.add_subcommand("import", "a recording of perf (perf.data) as a profile");
  app->add_option("FILE", command->import.path,
                  "a perf.data file, or the text of perf script or of perf stat -x, or -j; -: "
                  "standard input")
      ->required()
      ->type_name("FILE");
  add_profile_output(app, command);
  app->footer(
      "\nExamples:\n"
      "  culprit import perf.data                     recorded on this machine\n"
      "  culprit import --symbols ./sysroot perf.data from another one\n"
      "  perf record -o - ./a.out | culprit import -  through a pipe\n"
      "  perf script --no-inline --show-mmap-events --show-task-events | culprit import -\n"
      "                                               what perf alone can decode, as text");
  return app;
}

CLI::App* add_symbolize(CLI::App& root, SymbolizeCommand* command, std::string* /*error*/) {
  CLI::App* app =
      root.add_subcommand("symbolize", "complete a profile with names, lines and source");
  add_input(app, &command->file);
  add_snapshot_options(app, &command->snapshot);
  app->footer(
      "\nExamples:\n"
      "  culprit symbolize run.culprit                      after installing debug packages\n"
      "  culprit symbolize --symbols ./sysroot run.culprit  from another machine");
  return app;
}

CLI::App* add_doctor(CLI::App& root, DoctorCommand* command, std::string* /*error*/) {
  CLI::App* app = root.add_subcommand("doctor", "what works on this machine, what does not, why");
  add_word(app, "--format", &command->format, kFormats, "how to print");
  app->footer(
      "\nExamples:\n"
      "  culprit doctor\n"
      "  culprit doctor --format json     for programs");
  return app;
}

CLI::App* add_calibrate(CLI::App& root, CalibrateCommand* command, std::string* /*error*/) {
  CLI::App* app = root.add_subcommand("calibrate", "measures this machine for the software PMU");
  app->add_option("-o,--output", command->output,
                  "a machine file of one's own [~/.config/culprit/machine.toml, which --machine "
                  "host takes]")
      ->type_name("FILE");
  app->add_option("--rounds", command->rounds,
                  "measure all of it so often: a figure is the median, its interval is theirs [9]")
      ->type_name("N")
      ->check(in_range(3u, 1000u));
  add_force(app, &command->force);
  app->footer(
      "\nExamples:\n"
      "  culprit calibrate                  caches, memory, translation, mispredictions: 1 min\n"
      "  culprit calibrate --rounds 25      narrower intervals, and a longer look at neighbours\n"
      "  culprit record --engine timer+simulate ./a.out        has the figures from then on\n"
      "  culprit calibrate -o quiet.toml    and  record --machine quiet.toml: only then");
  return app;
}

CLI::App* add_events(CLI::App& root, EventsCommand* command, std::string* /*error*/) {
  CLI::App* app = root.add_subcommand("events", "what can be counted, here and on other CPUs");
  app->add_option("PATTERN", command->pattern, "a part of a name, or a pattern like 'L1-*'");
  app->add_option("--cpu", command->cpu,
                  "the events of this CPU, by libpfm4's name (icx, amd64_fam19h_zen4); '*' lists "
                  "CPUs")
      ->type_name("NAME");
  app->add_option("-e,--event", command->events,
                  "instead: what the kernel is asked for, for this event or list of events")
      ->type_name("EVENT")
      ->allow_extra_args(false);
  add_word(app, "--format", &command->format, kEventFormats, "how to print");
  app->footer(
      "\nExamples:\n"
      "  culprit events                                 what this machine can count\n"
      "  culprit events cache                           whose names have 'cache' in them\n"
      "  culprit events --cpu icx 'UOPS_RETIRED:*'      encodings of another CPU\n"
      "  culprit events -e '{cycles,instructions}:u'    what an event list stands for");
  return app;
}

}  // namespace culprit
