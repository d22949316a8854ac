#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>

#include "base/number.h"
#include "cli/options/command_options.h"
#include "cli/options/option_words.h"
#include "cli/options/program_words.h"
#include "cli/options/simulation_options.h"

namespace culprit {

namespace {

constexpr Word<EngineChoice> kEngines[] = {
    {"auto", EngineChoice::automatic},    {"pmu", EngineChoice::pmu},
    {"timer", EngineChoice::timer},       {"posix-timer", EngineChoice::posix_timer},
    {"simulate", EngineChoice::simulate}, {"timer+simulate", EngineChoice::timer_and_simulate}};

constexpr Word<bool> kStatEngines[] = {{"auto", false}, {"pmu", true}};

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

/// "" if threads can be told apart.
std::string check_threads(const CountOptions& options) {
  if (!options.per_thread) return "";
  if (options.system_wide || !options.cgroup.empty()) {
    return "--per-thread is for a program or running processes (-p), not for whole CPUs";
  }
  if (options.repetitions > 1 || options.one_by_one) {
    return "--per-thread: threads of different runs are different threads, so no --repeat and "
           "no --one-by-one";
  }
  if (options.interval_ns && options.pids.empty()) {
    return "--per-thread: what a program's threads counted is known when they end, so no intervals";
  }
  return "";
}

/// The first of these options that was given; "" if none was.
std::string find_given(const CLI::App& app, std::span<const char* const> options) {
  for (const char* const option : options) {
    if (app.count(option) > 0) return option;
  }
  return "";
}

/// "" if nothing is asked for that the template says.
std::string check_template(const CLI::App& app, std::initializer_list<const char*> said) {
  const std::string given = find_given(app, std::span(said.begin(), said.size()));
  if (given.empty()) return "";
  return fmt::format("{} and --template: the template says which events, and how often", given);
}

constexpr const char* kOfSimulation[] = {
    "--machine",   "--detail",  "--locality",         "--sets",          "--windows",
    "--budget",    "--range",   "--objects",          "--roi",           "--skip",
    "--allocator", "--sysroot", "--max-instructions", "--deterministic", "--no-experiments"};

/// "" if every option is one of the engine's own.
std::string check_engine(const CLI::App& app, EngineChoice engine) {
  constexpr const char* kOfSampling[] = {
      "--pid",      "--template", "--all-cpus", "--cgroup",     "--cpu",          "--event",
      "--freq",     "--count",    "-g",         "--call-graph", "--branches",     "--data",
      "--duration", "--delay",    "--per-task", "--off-cpu",    "--region-events"};
  constexpr const char* kNotOfBoth[] = {"--pid",      "--template", "--all-cpus", "--cgroup",
                                        "--cpu",      "--event",    "--branches", "--data",
                                        "--duration", "--delay"};
  const std::string simulation = find_given(app, kOfSimulation);
  const bool is_implied = app.count("--engine") == 0;
  if (engine == EngineChoice::timer_and_simulate) {
    const std::string given = find_given(app, kNotOfBoth);
    if (given.empty()) return "";
    return fmt::format(
        "{}--engine timer+simulate{} runs a whole program twice, by time and "
        "simulated: not with {}",
        is_implied ? simulation + " implies " : "", is_implied ? ", which" : "", given);
  }
  if (engine == EngineChoice::simulate) {
    const std::string given = find_given(app, kOfSampling);
    if (given.empty()) return "";
    return fmt::format("{} is for sampling: --engine simulate runs a program and counts all it can",
                       given);
  }
  if (simulation.empty()) return "";
  return fmt::format("{} is for --engine simulate or timer+simulate", simulation);
}

/// "old=./a.out 7" -> "old", "./a.out 7".
std::pair<std::string, std::string> parse_version(const std::string& text) {
  const size_t equals = text.find('=');
  const bool is_whole = equals != text.npos && equals > 0 && equals + 1 < text.size();
  if (!is_whole) {
    throw CLI::ValidationError(
        fmt::format("'{}' is no name and command: --compare 'old=./a.out 7'", printable(text)));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// "" if -r and --compare say what to run, and how often.
std::string check_repetitions(const CLI::App& app, const RecordCommand& command) {
  if (command.repetitions == 1 && command.compared.empty()) return "";
  constexpr const char* kNotRepeated[] = {"--pid", "--all-cpus", "--cgroup"};
  if (const std::string given = find_given(app, kNotRepeated); !given.empty()) {
    return fmt::format("-r and --compare run programs: not with {}", given);
  }
  if (command.compared.empty()) return "";
  if (!command.record.command.empty()) {
    return "--compare says which commands are run: no program beside it";
  }
  if (command.compared.size() < 2) return "one command is compared with nothing: --compare twice";
  for (size_t i = 1; i < command.compared.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (command.compared[i].first == command.compared[j].first) {
        return fmt::format("two commands are called '{}'", printable(command.compared[i].first));
      }
    }
  }
  return "";
}

}  // namespace

CLI::App* add_record(CLI::App& root, RecordCommand* command, std::string* error) {
  CLI::App* app = root.add_subcommand("record", "sample a program, processes, a cgroup or all");
  RecordOptions* record = &command->record;
  app->prefix_command();
  add_targets(app, &record->pids, &record->system_wide, &record->cgroup, &record->cpus);
  add_word(app, "--engine", &record->engine, kEngines,
           "auto: pmu (cycles and instructions) where the machine has one, else timer, or "
           "posix-timer where the kernel refuses it; simulate: count instructions, accesses and "
           "branches exactly, "
           "under QEMU; timer+simulate: run it twice, natively under the timer and simulated, into "
           "one profile; options of the software PMU imply it");
  add_simulation(app, command);
  app->add_option("--template", command->cpu,
                  "sample the events that the tree of cycles needs, with their periods: auto (by "
                  "this CPU), a name that `culprit templates` lists, or a file")
      ->type_name("auto|NAME|FILE");
  app->add_option("-e,--event", command->events,
                  "events to sample, as perf writes them: cpu-clock:u, cycles:pp, "
                  "{instructions,cycles}, page-faults; may be repeated [as --engine says]")
      ->type_name("EVENT")
      ->allow_extra_args(false);
  CLI::Option* frequency =
      add_parsed(app, "-F,--freq", &command->frequency_hz, parse_frequency_hz,
                 "samples per second of CPU time [999; timer+simulate: 3205]", "HZ");
  app->add_option("-c,--count", command->period,
                  "the exact period instead: events per sample; of cpu-clock ns")
      ->type_name("N")
      ->check(in_range(uint64_t{1}, uint64_t{1} << 62))
      ->excludes(frequency);
  CLI::Option* counts =
      app->add_option("--periods-from", command->counts,
                      "choose the period of each event from what this counting run counted "
                      "(culprit stat -o FILE)")
          ->type_name("FILE")
          ->excludes(frequency)
          ->excludes("--count");
  app->add_option("--samples", command->samples,
                  "with --periods-from: of each event about so many, in a run like that [10000]")
      ->type_name("N")
      ->check(in_range(uint64_t{1}, uint64_t{1} << 32))
      ->needs(counts);
  app->add_flag("-g", record->stacks, "call stacks, by frame pointers: --call-graph fp");
  add_taken(
      app, "--call-graph", [record](const std::string& mode) { parse_call_graph(mode, *record); },
      "call stacks, by frame pointers (fp) or by unwind tables on copies of BYTES of each "
      "stack [8192] (dwarf: for code built without frame pointers)",
      "fp|dwarf[,BYTES]|none");
  app->add_flag_callback(
      "--off-cpu", [record] { record->off_cpu = record->stacks = true; },
      "time that tasks wait (sleeps, locks, pipes, disks) or are preempted, too, by call stack; "
      "every switch is seen (culprit report --off-cpu)");
  app->add_flag("-b,--branches", record->branches,
                "the CPU's record of the last taken branches with each sample");
  app->add_flag("-d,--data", record->memory,
                "data object, latency and source of the sampled access to memory, where the event "
                "has its address (report --by object)");
  add_parsed(
      app, "--duration", &record->duration_ns,
      [](const std::string& text) { return std::optional(parse_duration_ns(text)); },
      "stop after this time", "TIME");
  add_parsed(app, "--delay", &record->delay_ns, parse_duration_ns, "start sampling later", "TIME");
  app->add_flag_callback(
      "--per-task", [record] { record->sampling = Sampling::per_task; },
      "events on the program's own tasks, not on CPUs: other programs are left alone, but "
      "tasks shorter than a period are not seen");
  app->add_flag("--regions", command->regions,
                "OpenMP constructs, too: what each takes of each thread, by a library inside the "
                "program; simulated: what each counts of each thread, for programs of any kind "
                "(`culprit regions` shows it)");
  app->add_option(
         "--region", command->functions,
         "with --regions, which it implies: this function of the program is a region, too, "
         "as it is; FILE:SYMBOL is one of a library; may be repeated")
      ->type_name("SYMBOL")
      ->allow_extra_args(false);
  app->add_option("--region-events", command->region_events,
                  "with --regions, which it implies: count these events in each region of each "
                  "thread, at most four (page-faults,task-clock,cycles:u); the kernel is asked at "
                  "each edge, "
                  "which takes microseconds")
      ->type_name("EVENT")
      ->allow_extra_args(false);
  app->add_option("-r,--repeat", command->repetitions,
                  "run it so often, into one profile (culprit variance shows what varies)")
      ->type_name("N")
      ->check(in_range(1u, 1000u));
  add_each_taken(
      app, "--compare",
      [command](const std::string& word) { command->compared.push_back(parse_version(word)); },
      "instead of a program: a name and a shell command; twice or more, run by turns -r times "
      "[5] into one profile (culprit diff shows what differs)",
      "NAME=COMMAND");
  add_profile_output(app, command);
  app->footer(
      "\nExamples:\n"
      "  culprit record ./a.out args            a program and its children\n"
      "  culprit record -g -F 4999 -- make -j2  with stacks, 4,999 samples per second\n"
      "  culprit record -p 1234 --duration 10s  a running process\n"
      "  culprit record -e cycles:pp -e page-faults ./a.out   what the hardware counts\n"
      "  culprit record -e cycles -e page-faults --periods-from counts.culprit ./a.out\n"
      "                                         as often as culprit stat -o says is enough\n"
      "  culprit record --off-cpu ./server      what it waits for, too\n"
      "  culprit record -a --duration 5s        the whole system\n"
      "  culprit record -r 5 ./a.out            five runs; then: culprit variance\n"
      "  culprit record --compare 'old=./a' --compare 'new=./b'  then: culprit diff\n"
      "  culprit record --engine timer+simulate ./a.out   measured time beside exact counts\n"
      "  culprit record --locality all ./a.out  which data it waits for; then: culprit data\n"
      "  culprit record --regions --engine simulate ./a.out   counts of OpenMP constructs\n"
      "  culprit record --region solve ./a.out  calls of a function; then: culprit regions\n\n"
      "Exit status: the program's own; 125 for failures of culprit, 126 if the\n"
      "program cannot be run, 127 if it is not found.");
  app->callback([app, command, error] {
    command->record.command = take_program(*app);
    if (!command->compared.empty() && app->count("--repeat") == 0) command->repetitions = 5;
    *error = check_repetitions(*app, *command);
    if (error->empty() && command->compared.empty()) {
      *error = check_targets(command->record, "record");
    }
    if (app->count("--engine") == 0 && !find_given(*app, kOfSimulation).empty()) {
      command->record.engine = EngineChoice::timer_and_simulate;
    }
    if (error->empty()) *error = check_engine(*app, command->record.engine);
    if (!command->functions.empty() || !command->region_events.empty()) command->regions = true;
    if (error->empty() && command->regions && command->record.command.empty()) {
      *error = "--regions is for a program that is started: it has to have a library in it";
    }
    command->simulate.regions = command->regions;
    if (error->empty()) *error = check_simulation(*app, *command);
    if (error->empty() && !command->cpu.empty()) {
      *error = check_template(*app, {"--event", "--freq", "--count"});
    }
    command->simulate.command = command->record.command;
  });
  return app;
}

CLI::App* add_stat(CLI::App& root, StatCommand* command, std::string* error) {
  CLI::App* app = root.add_subcommand("stat", "count events of a whole run, without samples");
  CountOptions* count = &command->count;
  app->prefix_command();
  add_targets(app, &count->pids, &count->system_wide, &count->cgroup, &count->cpus);
  app->add_option("--template", command->cpu,
                  "count the events that the tree of cycles needs, and print the tree: auto (by "
                  "this CPU), a name that `culprit templates` lists, or a file")
      ->type_name("auto|NAME|FILE");
  app->add_option("-e,--event", command->events,
                  "events, as perf writes them: cycles:u, {instructions,cycles}, r11; may be "
                  "repeated [the usual ones]")
      ->type_name("EVENT")
      ->allow_extra_args(false);
  add_word(app, "--engine", &command->hardware_only, kStatEngines,
           "auto: the usual events that this machine has; pmu: hardware events must be");
  app->add_option("-r,--repeat", count->repetitions, "run it so often: means, with 95 % intervals")
      ->type_name("N")
      ->check(in_range(1u, 100'000u));
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
  app->add_flag("--per-thread", count->per_thread,
                "a row for each thread of the program or of -p PID");
  add_off_flag(app, "--no-inherit", &count->inherit, "not its children and new threads");
  add_parsed(
      app, "--duration", &count->duration_ns,
      [](const std::string& text) { return std::optional(parse_duration_ns(text)); },
      "stop after this time", "TIME");
  add_parsed(app, "--delay", &count->delay_ns, parse_duration_ns, "start counting later", "TIME");
  app->add_option("-o,--output", command->output, "a profile of the counts [none]")
      ->type_name("FILE");
  app->add_option("--log", command->log, "print there [standard error]")->type_name("FILE");
  add_force(app, &command->force);
  add_word(app, "--format", &command->format, kFormats, "how to print");
  add_taken(
      app, "-x,--field-separator",
      [command](const std::string& text) {
        command->format = Format::csv;
        command->separator = text;
      },
      "CSV with this between the fields", "TEXT");
  app->footer(
      "\nExamples:\n"
      "  culprit stat ./a.out args                      what this machine counts\n"
      "  culprit stat -r 10 -e cycles:u,instructions:u ./a.out\n"
      "  culprit stat -I 1000 -a --duration 10s         the whole system, every second\n"
      "  culprit stat --template auto ./a.out           what took its cycles\n\n"
      "Exit status: the program's own; 125 for failures of culprit, 126 if the\n"
      "program cannot be run, 127 if it is not found.");
  app->callback([app, command, error] {
    command->count.command = take_program(*app);
    if (!command->cpu.empty()) *error = check_template(*app, {"--event", "--interval-print"});
    if (!error->empty()) return;
    *error = check_targets(command->count, "count");
    if (error->empty()) *error = check_threads(command->count);
  });
  return app;
}

}  // namespace culprit
