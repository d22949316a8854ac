#include "cli/command_line.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "base/text.h"
#include "records/number.h"

namespace culprit {

namespace {

constexpr const char* kVersion = "culprit 0.1.0";
/// Stands for "--" before a program while CLI11 parses, which would else take the program's
/// words for arguments of ours. No word can have a NUL.
constexpr std::string_view kDashes("\0--", 3);
constexpr double kHighestFrequency = 100'000;  // cpu-clock refuses periods below 10 us
constexpr const char* kFirstLines =
    "Culprit: where the cycles went in native code, and what took them.\n\n"
    "  culprit ./a.out args           record a program, then report: start here\n"
    "  culprit record -g -o run.culprit -- ./a.out args\n"
    "  culprit report --by module --by function\n"
    "  culprit annotate my_function   source and assembly with costs\n"
    "  culprit doctor                 what works on this machine, and why the rest does not\n";

// ---- Words to values. Each throws CLI::ValidationError, which CLI11 expects. ----

/// "10", "10s", "1.5s", "250ms", "100us" → ns. No unit: seconds.
uint64_t parse_duration_ns(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string_view unit(end);
  const double factor = unit.empty() || unit == "s"    ? 1e9
                        : unit == "ms"                 ? 1e6
                        : unit == "us"                 ? 1e3
                        : unit == "m" || unit == "min" ? 60e9
                                                       : 0;
  // Also refuses "nan", "inf" and what does not fit.
  if (end == text.c_str() || factor == 0 || !(number >= 0 && number * factor < 1e18)) {
    throw CLI::ValidationError("'" + text + "' is not a duration (try 10s, 500ms or 2min)");
  }
  return static_cast<uint64_t>(number * factor);
}

/// "0,2-3" → {0, 2, 3}.
std::vector<int> parse_cpus(const std::string& text) {
  std::vector<int> cpus;
  for (const std::string_view field : split(text, ',')) {
    int first = 0;
    int last = 0;
    char rest = 0;
    const std::string word(field);
    const int got = std::sscanf(word.c_str(), "%d-%d%c", &first, &last, &rest);
    if (got == 1 && word.find('-') == std::string::npos) last = first;
    const bool valid = (got == 1 && last == first && word == std::to_string(first)) || got == 2;
    if (!valid || first < 0 || last < first || last > 8191) {
      throw CLI::ValidationError("'" + text + "' is not a list of CPUs (try 0,2-3)");
    }
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

/// "12,34" → {12, 34}.
std::vector<pid_t> parse_pids(const std::string& text) {
  std::vector<pid_t> pids;
  for (const std::string_view field : split(text, ',')) {
    const std::string word(field);
    char* end = nullptr;
    const long pid = std::strtol(word.c_str(), &end, 10);
    if (word.empty() || *end != '\0' || pid <= 0 || pid > 0x7fffffff) {
      throw CLI::ValidationError("'" + text + "' is not a list of process ids");
    }
    pids.push_back(static_cast<pid_t>(pid));
  }
  return pids;
}

template <class T>
struct Word {
  const char* word;
  T value;
};

constexpr Word<Level> kLevels[] = {
    {"process", Level::process},        {"thread", Level::thread}, {"module", Level::module},
    {"function", Level::function},      {"line", Level::line},     {"block", Level::block},
    {"instruction", Level::instruction}};
constexpr Word<Format> kFormats[] = {
    {"text", Format::text}, {"json", Format::json}, {"csv", Format::csv}};
constexpr Word<ExportFormat> kExportFormats[] = {
    {"collapsed", ExportFormat::collapsed}, {"pprof", ExportFormat::pprof},
    {"callgrind", ExportFormat::callgrind}, {"autofdo", ExportFormat::autofdo},
    {"bolt", ExportFormat::bolt},           {"dot", ExportFormat::dot},
    {"json", ExportFormat::json},           {"csv", ExportFormat::csv}};
constexpr Word<Tree> kTrees[] = {{"callers", Tree::callers}, {"callees", Tree::callees}};
constexpr Word<Engine> kEngines[] = {{"auto", Engine::automatic},
                                     {"pmu", Engine::pmu},
                                     {"timer", Engine::timer},
                                     {"posix-timer", Engine::posix_timer},
                                     {"simulate", Engine::simulate}};

constexpr Word<bool> kStatEngines[] = {{"auto", false}, {"pmu", true}};

constexpr Word<simulate::Locality> kLocalities[] = {{"off", simulate::Locality::off},
                                                    {"l1", simulate::Locality::l1},
                                                    {"all", simulate::Locality::all}};

template <class T, size_t N>
T parse_word(const Word<T> (&words)[N], const std::string& text) {
  std::vector<std::string> known;
  for (const Word<T>& word : words) {
    if (text == word.word) return word.value;
    known.emplace_back(word.word);
  }
  const std::string nearest = nearest_word(text, known);
  throw CLI::ValidationError(
      fmt::format("'{}' is not one of {}{}", text, fmt::join(known, ", "),
                  nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest)));
}

/// Adds an option whose text goes through `parse` into `*target`.
template <class T, class Parse>
CLI::Option* add_parsed(CLI::App* app, const std::string& names, T* target, Parse parse,
                        const std::string& help, const std::string& value_name) {
  return app
      ->add_option_function<std::string>(
          names, [target, parse](const std::string& text) { *target = parse(text); }, help)
      ->type_name(value_name);
}

template <class T, size_t N>
CLI::Option* add_word(CLI::App* app, const std::string& names, T* target, const Word<T> (&words)[N],
                      const std::string& help) {
  std::vector<std::string> known;
  for (const Word<T>& word : words) known.emplace_back(word.word);
  return add_parsed(
      app, names, target, [&words](const std::string& text) { return parse_word(words, text); },
      help, fmt::format("{}", fmt::join(known, "|")));
}

/// Sets `*target` to false when the option is given.
void add_off_flag(CLI::App* app, const std::string& name, bool* target, const std::string& help) {
  app->add_flag_callback(name, [target] { *target = false; }, help);
}

/// CLI11's help, with usage lines that can be typed and without its notes on checks.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string) const override {
    const std::string name = app->get_name();
    if (name == "culprit")
      return "Usage: culprit COMMAND [OPTIONS]   or   culprit PROGRAM [ARGS]\n";
    std::string usage = "Usage: culprit " + name + " [OPTIONS]";
    if (name == "record" || name == "stat") usage += " [--] PROGRAM [ARGS]";
    if (name == "annotate") usage += " FUNCTION";
    if (name == "events") usage += " [PATTERN]";
    if (const CLI::Option* file = app->get_option_no_throw("FILE")) {
      usage += file->get_required() ? " FILE" : " [FILE]";
    }
    return usage + "\n";
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return "";
    const std::string type = option->get_type_name();  // "NS:UINT in [1 - 9]"
    return " " + type.substr(0, type.find(':'));
  }
};

// ---- The commands. ----

/// "fp", "dwarf", "dwarf,16384" or "none".
void parse_call_graph(const std::string& text, RecordOptions& options) {
  constexpr uint64_t kUsualBytes = 8192;  // as perf
  const size_t comma = text.find(',');
  const std::string method = text.substr(0, comma);
  if (method != "dwarf" || comma == std::string::npos) {
    options.stacks = method != "none";
    options.stack_copy_bytes = method == "dwarf" ? kUsualBytes : 0;
    if (text == "fp" || text == "dwarf" || text == "none") return;
    throw CLI::ValidationError("cannot walk stacks by '" + text +
                               "': it is fp, dwarf, dwarf,BYTES or none");
  }
  const std::string bytes = text.substr(comma + 1);
  const std::optional<uint64_t> number = find_number(bytes, 10);
  if (!number || *number == 0 || *number % 8 != 0 || *number > kLargestStackCopyBytes) {
    throw CLI::ValidationError(
        fmt::format("cannot copy '{}' bytes of each stack: it must be a multiple of 8 from 8 to {}",
                    bytes, kLargestStackCopyBytes));
  }
  options.stacks = true;
  options.stack_copy_bytes = static_cast<uint32_t>(*number);
}

void add_snapshot_options(CLI::App* app, SnapshotOptions* options) {
  app->add_option("--symbols", options->symbol_folders,
                  "folder with binaries and debug files: a sysroot, a flat folder, or one with "
                  ".build-id/; may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false);
  add_off_flag(app, "--no-source", &options->with_source, "leave source text out of the profile");
  add_off_flag(app, "--no-debuginfod", &options->use_debuginfod,
               "do not ask the servers in DEBUGINFOD_URLS");
}

void add_targets(CLI::App* app, std::vector<pid_t>* pids, bool* system_wide, std::string* cgroup,
                 std::vector<int>* cpus) {
  add_parsed(app, "-p,--pid", pids, parse_pids, "running processes, and their children",
             "PID[,PID]");
  app->add_flag("-a,--all-cpus", *system_wide, "everything on this machine");
  app->add_option("-G,--cgroup", *cgroup, "a cgroup, by its path below the cgroup mount")
      ->type_name("PATH");
  add_parsed(app, "-C,--cpu", cpus, parse_cpus, "only on these CPUs", "LIST");
}

/// The words behind the options: the program to run, "--" before it taken away.
std::vector<std::string> take_program(const CLI::App& app) {
  std::vector<std::string> words = app.remaining();
  if (!words.empty() && words.front() == kDashes) words.erase(words.begin());
  std::replace(words.begin(), words.end(), std::string(kDashes), std::string("--"));
  return words;
}

/// "" if what to observe is clear: a program, processes, a cgroup or all.
template <class Options>
std::string check_targets(const Options& options, const char* verb) {
  const int targets = (options.pids.empty() ? 0 : 1) + (options.cgroup.empty() ? 0 : 1) +
                      (options.system_wide ? 1 : 0);
  if (targets == 0 && options.command.empty()) {
    return fmt::format("nothing to {}: give a program, -p PID, --cgroup PATH or -a", verb);
  }
  if (targets > 1) {
    return fmt::format("-p, --cgroup and -a: only one of them to {} at a time", verb);
  }
  if (!options.pids.empty() && !options.command.empty()) {
    return "give either a program or -p, not both";
  }
  return "";
}

/// "" if the engine is another one, or what is asked of it can be simulated.
std::string check_simulation(RecordCommand& command) {
  const RecordOptions& options = command.record;
  if (options.engine != Engine::simulate) return "";
  const bool has_more = !options.pids.empty() || !options.cgroup.empty() || options.system_wide ||
                        options.stacks || options.duration_ns || !command.events.empty();
  if (has_more) {
    return "--engine simulate runs a program and counts all it can: without -p, -a, --cgroup, "
           "-g, -e and --duration";
  }
  command.simulate.command = options.command;
  return "";
}

void add_record(CLI::App& root, RecordCommand* command, std::string* program_error) {
  CLI::App* app = root.add_subcommand("record", "sample a program, processes, a cgroup or all");
  RecordOptions* record = &command->record;
  app->prefix_command();
  add_targets(app, &record->pids, &record->system_wide, &record->cgroup, &record->cpus);
  add_word(app, "--engine", &record->engine, kEngines,
           "auto: pmu (cycles) where the machine has one, else timer, or posix-timer where the "
           "kernel refuses it; simulate: count instructions, accesses and branches exactly, "
           "under QEMU");
  app->add_option("--machine", command->machine,
                  "simulate: whose caches and TLBs, a name (host, zen4, ...), a file, or none for "
                  "executions and accesses only [host]")
      ->type_name("NAME|FILE");
  add_word(app, "--locality", &command->simulate.locality, kLocalities,
           "simulate: what became of the lines that each instruction brought in, and who "
           "reused or evicted them, in L1 or in all levels [off]");
  app->add_option("--max-instructions", command->simulate.max_instructions,
                  "simulate: count so many of each process, then let it run on")
      ->type_name("N");
  app->add_option("--sysroot", command->simulate.sysroot,
                  "simulate: where the libraries of a program for another architecture are")
      ->type_name("DIR");
  app->add_option("-e,--event", command->events,
                  "events to sample, as perf writes them: cpu-clock:u, cycles:pp, "
                  "{instructions,cycles}, page-faults; may be repeated [as --engine says]")
      ->type_name("EVENT")
      ->allow_extra_args(false);
  CLI::Option* frequency = add_parsed(
      app, "-F,--freq", &command->frequency_hz,
      [](const std::string& text) {
        char* end = nullptr;
        const double hertz = std::strtod(text.c_str(), &end);
        if (end == text.c_str() || *end != '\0' || !(hertz >= 0.1 && hertz <= kHighestFrequency)) {
          throw CLI::ValidationError("'" + text + "' is not a frequency from 0.1 to 100000 Hz");
        }
        return std::optional(hertz);
      },
      "samples per second of CPU time [999]", "HZ");
  app->add_option("-c,--count", command->period,
                  "the exact period instead: events per sample; of cpu-clock ns")
      ->type_name("N")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 62))
      ->excludes(frequency);
  app->add_flag("-g", record->stacks, "call stacks, by frame pointers: --call-graph fp");
  app->add_option_function<std::string>(
         "--call-graph", [record](const std::string& mode) { parse_call_graph(mode, *record); },
         "call stacks, by frame pointers (fp) or by unwind tables on copies of BYTES of each "
         "stack [8192] (dwarf: for code built without frame pointers)")
      ->type_name("fp|dwarf[,BYTES]|none");
  app->add_flag("-b,--branches", record->branches,
                "the CPU's record of the last taken branches with each sample");
  app->add_flag("-d,--data", record->memory,
                "data address, latency and source of memory accesses with each sample");
  add_parsed(
      app, "--duration", &record->duration_ns,
      [](const std::string& text) { return std::optional(parse_duration_ns(text)); },
      "stop after this time", "TIME");
  add_parsed(app, "--delay", &record->delay_ns, parse_duration_ns, "start sampling later", "TIME");
  app->add_flag_callback(
      "--per-task", [record] { record->sampling = Sampling::per_task; },
      "events on the program's own tasks, not on CPUs: other programs are left alone, but "
      "tasks shorter than a period are not seen");
  app->add_option("-o,--output", command->output, "the profile [profile.culprit]")
      ->type_name("FILE");
  app->add_flag("-q,--quiet", command->quiet, "no messages but errors");
  add_off_flag(app, "--no-symbols", &command->symbolize,
               "leave names and lines to `culprit symbolize`");
  add_snapshot_options(app, &command->snapshot);
  app->footer(
      "\nExamples:\n"
      "  culprit record ./a.out args            a program and its children\n"
      "  culprit record -g -F 4999 -- make -j2  with stacks, 4,999 samples per second\n"
      "  culprit record -p 1234 --duration 10s  a running process\n"
      "  culprit record -e cycles:pp -e page-faults ./a.out   what the hardware counts\n"
      "  culprit record -a --duration 5s        the whole system\n\n"
      "Exit status: the program's own; 125 for failures of culprit, 126 if the\n"
      "program cannot be run, 127 if it is not found.");
  app->callback([app, command, program_error] {
    command->record.command = take_program(*app);
    *program_error = check_targets(command->record, "record");
    if (program_error->empty()) *program_error = check_simulation(*command);
  });
}

void add_stat(CLI::App& root, StatCommand* command, std::string* program_error) {
  CLI::App* app = root.add_subcommand("stat", "count events of a whole run, without samples");
  CountOptions* count = &command->count;
  app->prefix_command();
  add_targets(app, &count->pids, &count->system_wide, &count->cgroup, &count->cpus);
  app->add_option("-e,--event", command->events,
                  "events, as perf writes them: cycles:u, {instructions,cycles}, r11; may be "
                  "repeated [the usual ones]")
      ->type_name("EVENT")
      ->allow_extra_args(false);
  add_word(app, "--engine", &command->hardware_only, kStatEngines,
           "auto: the usual events that this machine has; pmu: hardware events must be");
  app->add_option("-r,--repeat", count->repetitions, "run it so often: means, with 95 % intervals")
      ->type_name("N")
      ->check(CLI::Range(1u, 100'000u));
  add_parsed(
      app, "-I,--interval-print", &count->interval_ns,
      [](const std::string& text) {
        const uint64_t ns = parse_duration_ns(
            text.find_first_not_of("0123456789") == text.npos ? text + "ms" : text);
        if (ns < 1'000'000) throw CLI::ValidationError("an interval is at least 1 ms");
        return std::optional(ns);
      },
      "print the counts of each interval, too", "MS");
  app->add_flag("--one-by-one", count->one_by_one,
                "run it once for each group of events, so that none shares a counter");
  app->add_flag("--per-thread", count->per_thread, "a row for each thread of -p PID");
  add_off_flag(app, "--no-inherit", &count->inherit, "not its children and new threads");
  add_parsed(
      app, "--duration", &count->duration_ns,
      [](const std::string& text) { return std::optional(parse_duration_ns(text)); },
      "stop after this time", "TIME");
  add_parsed(app, "--delay", &count->delay_ns, parse_duration_ns, "start counting later", "TIME");
  app->add_option("-o,--output", command->output, "a profile of the counts [none]")
      ->type_name("FILE");
  app->add_option("--log", command->log, "print there [standard error]")->type_name("FILE");
  add_word(app, "--format", &command->format, kFormats, "how to print");
  app->add_option_function<std::string>(
         "-x,--field-separator",
         [command](const std::string& text) {
           command->format = Format::csv;
           command->separator = text;
         },
         "CSV with this between the fields")
      ->type_name("TEXT");
  app->footer(
      "\nExamples:\n"
      "  culprit stat ./a.out args                      what this machine counts\n"
      "  culprit stat -r 10 -e cycles:u,instructions:u ./a.out\n"
      "  culprit stat -I 1000 -a --duration 10s         the whole system, every second\n\n"
      "Exit status: the program's own; 125 for failures of culprit, 126 if the\n"
      "program cannot be run, 127 if it is not found.");
  app->callback([app, command, program_error] {
    command->count.command = take_program(*app);
    *program_error = check_targets(command->count, "count");
    if (command->count.per_thread && command->count.pids.empty()) {
      *program_error = "--per-thread is for running processes (-p)";
    }
  });
}

void add_input(CLI::App* app, std::string* file) {
  app->add_option("FILE,-i,--input", *file, "the profile [profile.culprit]")->type_name("FILE");
}

void add_presentation(CLI::App* app, Format* format, size_t* width) {
  add_word(app, "--format", format, kFormats, "how to print");
  app->add_option("--width", *width, "columns of the text [the terminal's, or 80]")
      ->type_name("N")
      ->check(CLI::Range(size_t{60}, size_t{1000}));
}

void add_report(CLI::App& root, ReportCommand* command) {
  CLI::App* app = root.add_subcommand("report", "a table of where the time went");
  ReportOptions* report = &command->report;
  add_input(app, &command->file);
  app->add_option_function<std::vector<std::string>>(
         "--by",
         [report](const std::vector<std::string>& words) {
           report->by.clear();
           for (const std::string& word : words) {
             for (const std::string_view level : split(word, ',')) {
               report->by.push_back(parse_word(kLevels, std::string(level)));
             }
           }
         },
         "process, thread, module, function, line, block or instruction; may be repeated "
         "[function]")
      ->type_name("LEVEL")
      ->allow_extra_args(false);
  add_word(app, "--tree", &report->tree, kTrees,
           "callees: from the outermost caller down; callers: from each function up");
  for (const Word<Level>& level : kLevels) {
    if (level.value == Level::block || level.value == Level::instruction) continue;
    app->add_option_function<std::vector<std::string>>(
           fmt::format("--{}", level.word),
           [report, value = level.value](const std::vector<std::string>& patterns) {
             for (const std::string& pattern : patterns)
               report->filters.push_back({value, pattern});
           },
           fmt::format("only this {}: a name or a pattern like 'std::*'", level.word))
        ->type_name("PATTERN")
        ->allow_extra_args(false);
  }
  app->add_option("--sort", report->sort, "by this column [the first event, falling]")
      ->type_name("COLUMN");
  CLI::Option* limit =
      app->add_option("--limit", report->limit, "rows to print; 0: all [30]")->type_name("N");
  app->add_option("--min-percent", report->minimum_percent, "leave smaller rows out")
      ->type_name("P")
      ->check(CLI::Range(0.0, 100.0));
  add_presentation(app, &command->format, &command->width);
  app->footer(
      "\nExamples:\n"
      "  culprit report                              functions\n"
      "  culprit report --by module,function         functions within modules\n"
      "  culprit report --by line --function main    lines of one function\n"
      "  culprit report --tree callees               who called what (record -g)\n"
      "  culprit report --format json --limit 0      for programs");
  app->callback([command, limit] {
    // Programs want everything; people want a page.
    if (command->format != Format::text && limit->count() == 0) command->report.limit = 0;
  });
}

void add_annotate(CLI::App& root, AnnotateCommand* command) {
  CLI::App* app = root.add_subcommand("annotate", "source and assembly of a function, with costs");
  app->add_option("FUNCTION", command->annotate.function, "a name or a pattern")->required();
  add_input(app, &command->file);
  app->add_option("--module", command->annotate.module, "only in this module (name or pattern)")
      ->type_name("PATTERN");
  add_off_flag(app, "--no-source", &command->annotate.show_source, "assembly only");
  add_off_flag(app, "--no-assembly", &command->annotate.show_assembly, "source only");
  add_presentation(app, &command->format, &command->width);
  app->footer(
      "\nExamples:\n"
      "  culprit annotate main\n"
      "  culprit annotate 'sort_*' --no-assembly run.culprit");
}

void add_export(CLI::App& root, ExportCommand* command, std::string* error) {
  CLI::App* app = root.add_subcommand("export", "the profile for other programs");
  add_input(app, &command->file);
  CLI::Option* to = add_word(app, "--to", &command->to, kExportFormats,
                             "collapsed: folded stacks, for flame graphs; pprof: gzip'd "
                             "profile.proto; callgrind: for KCachegrind; autofdo: LLVM's text "
                             "sample profile; bolt: for perf2bolt --pa; dot: the blocks of one "
                             "function, for Graphviz; json, csv: every address");
  to->required()->type_name("FORMAT");
  app->add_option("-o,--output", command->output, "[standard output]")->type_name("FILE");
  CLI::Option* image =
      app->add_option("--image", command->image,
                      "autofdo, bolt, dot: this image only (a path, a file name or a pattern) "
                      "[the one with most branch records; dot: any]");
  image->type_name("PATTERN");
  CLI::Option* function =
      app->add_option("--function", command->function, "dot: this function (a name or a pattern)");
  function->type_name("NAME");
  app->footer(
      "\nExamples:\n"
      "  culprit export --to collapsed | flamegraph.pl > flame.svg\n"
      "  culprit export --to pprof -o run.pb.gz && pprof -http=: run.pb.gz\n"
      "  culprit export --to callgrind -o callgrind.out.run && kcachegrind callgrind.out.run\n"
      "  culprit export --to dot --function main | dot -Tsvg > main.svg\n"
      "  culprit export --to csv -o addresses.csv run.culprit\n\n"
      "From branch records (record -b):\n"
      "  culprit export --to autofdo -o run.prof && clang++ -fprofile-sample-use=run.prof ...\n"
      "  culprit export --to bolt -o run.pa && perf2bolt --pa -p run.pa -o run.fdata ./a.out");
  app->callback([command, image, function, error] {
    const ExportFormat format = command->to;
    const bool takes_image = format == ExportFormat::autofdo || format == ExportFormat::bolt ||
                             format == ExportFormat::dot;
    if (format == ExportFormat::dot && command->function.empty()) {
      *error = "--to dot draws one function: give --function NAME";
    } else if (format != ExportFormat::dot && function->count() > 0) {
      *error = "--function is for --to dot only";
    } else if (!takes_image && image->count() > 0) {
      *error = "--image is for --to autofdo, bolt and dot only";
    }
  });
}

void add_import(CLI::App& root, ImportCommand* command) {
  CLI::App* app = root.add_subcommand("import", "a recording of perf (perf.data) as a profile");
  app->add_option("FILE", command->import.path,
                  "a perf.data file, or the text of perf script; -: standard input")
      ->required()
      ->type_name("FILE");
  app->add_option("-o,--output", command->output, "the profile [profile.culprit]")
      ->type_name("FILE");
  app->add_flag("-q,--quiet", command->quiet, "no messages but errors");
  add_off_flag(app, "--no-symbols", &command->symbolize,
               "leave names and lines to `culprit symbolize`");
  add_snapshot_options(app, &command->snapshot);
  app->footer(
      "\nExamples:\n"
      "  culprit import perf.data                     recorded on this machine\n"
      "  culprit import --symbols ./sysroot perf.data from another one\n"
      "  perf record -o - ./a.out | culprit import -  through a pipe\n"
      "  perf script --no-inline --show-mmap-events --show-task-events | culprit import -\n"
      "                                               what perf alone can decode, as text");
}

void add_symbolize(CLI::App& root, SymbolizeCommand* command) {
  CLI::App* app =
      root.add_subcommand("symbolize", "complete a profile with names, lines and source");
  add_input(app, &command->file);
  add_snapshot_options(app, &command->snapshot);
  app->footer(
      "\nExamples:\n"
      "  culprit symbolize run.culprit                      after installing debug packages\n"
      "  culprit symbolize --symbols ./sysroot run.culprit  from another machine");
}

void add_doctor(CLI::App& root, DoctorCommand* command) {
  CLI::App* app = root.add_subcommand("doctor", "what works on this machine, what does not, why");
  add_word(app, "--format", &command->format, kFormats, "how to print");
}

constexpr Word<Format> kEventFormats[] = {{"text", Format::text}, {"json", Format::json}};

void add_events(CLI::App& root, EventsCommand* command) {
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
}

// ---- `culprit PROGRAM args`. ----

bool is_runnable(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

bool is_program(const std::string& word) {
  if (word.find('/') != std::string::npos) return true;  // record says what is wrong with it
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path != nullptr ? path : "", ':')) {
    if (is_runnable(std::string(folder.empty() ? "." : folder) + "/" + word)) return true;
  }
  return false;
}

std::vector<std::string> command_names(const CLI::App& root) {
  std::vector<std::string> names;
  for (const CLI::App* app : root.get_subcommands({})) names.push_back(app->get_name());
  return names;
}

Usage wrong_usage(const std::string& message, const std::string& help_command) {
  return {2, fmt::format("culprit: {}\n         see: {}\n", printable(message), help_command)};
}

}  // namespace

Command parse_command_line(const std::vector<std::string>& arguments) {
  RecordCommand record;
  StatCommand stat;
  ReportCommand report;
  AnnotateCommand annotate_command;
  ExportCommand export_command;
  ImportCommand import_command;
  SymbolizeCommand symbolize;
  DoctorCommand doctor;
  EventsCommand events;
  std::string record_error;
  std::string stat_error;
  std::string export_error;

  CLI::App root(kFirstLines, "culprit");
  root.formatter(std::make_shared<HelpFormatter>());
  root.require_subcommand(0, 1);
  root.set_version_flag("--version", kVersion);
  add_record(root, &record, &record_error);
  add_stat(root, &stat, &stat_error);
  add_report(root, &report);
  add_annotate(root, &annotate_command);
  add_export(root, &export_command, &export_error);
  add_import(root, &import_command);
  add_symbolize(root, &symbolize);
  add_doctor(root, &doctor);
  add_events(root, &events);

  if (arguments.empty()) return Usage{2, root.help()};
  const std::string& first = arguments.front();
  const std::vector<std::string> names = command_names(root);
  if (std::find(names.begin(), names.end(), first) == names.end() && first[0] != '-') {
    if (!is_program(first)) {
      const std::string nearest = nearest_word(first, names);
      return wrong_usage(fmt::format("'{}' is neither a command nor a program{}", first,
                                     nearest.empty() ? "" : " (did you mean " + nearest + "?)"),
                         "culprit --help");
    }
    record.record.command = arguments;
    record.report_after = true;
    return record;
  }

  // CLI11 throws; this is the one place where that ends.
  std::string used = "culprit";
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    if (first == "record" || first == "stat") {
      std::replace(reversed.begin(), reversed.end(), std::string("--"), std::string(kDashes));
    }
    root.parse(reversed);
  } catch (const CLI::Success& success) {
    const auto chosen = root.get_subcommands();
    if (dynamic_cast<const CLI::CallForVersion*>(&success) != nullptr) {
      return Usage{0, std::string(kVersion) + "\n"};
    }
    return Usage{0, chosen.empty() ? root.help() : chosen.front()->help()};
  } catch (const CLI::Error& error) {
    const auto chosen = root.get_subcommands();
    if (!chosen.empty()) used += " " + chosen.front()->get_name();
    return wrong_usage(error.what(), used + " --help");
  }
  if (root.got_subcommand("record")) {
    if (!record_error.empty()) return wrong_usage(record_error, "culprit record --help");
    return record;
  }
  if (root.got_subcommand("stat")) {
    if (!stat_error.empty()) return wrong_usage(stat_error, "culprit stat --help");
    return stat;
  }
  if (root.got_subcommand("report")) return report;
  if (root.got_subcommand("annotate")) return annotate_command;
  if (root.got_subcommand("export")) {
    if (!export_error.empty()) return wrong_usage(export_error, "culprit export --help");
    return export_command;
  }
  if (root.got_subcommand("import")) return import_command;
  if (root.got_subcommand("symbolize")) return symbolize;
  if (root.got_subcommand("doctor")) return doctor;
  if (root.got_subcommand("events")) return events;
  return Usage{2, root.help()};
}

}  // namespace culprit
