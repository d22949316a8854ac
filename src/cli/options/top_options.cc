#include <fmt/format.h>

#include "cli/options/command_options.h"
#include "cli/options/option_words.h"
#include "cli/options/program_words.h"

namespace culprit {

namespace {

constexpr Word<bool> kTopRows[] = {{"process", false}, {"function", true}};

}  // namespace

CLI::App* add_top(CLI::App& root, TopCommand* command, std::string* error) {
  CLI::App* app = root.add_subcommand("top", "what runs now: processes, functions, instructions");
  RecordOptions* record = &command->recording.record;
  app->prefix_command();
  add_targets(app, &record->pids, &record->system_wide, &record->cgroup, &record->cpus);
  app->add_option("-e,--event", command->recording.events,
                  "an event instead of time, as perf writes it: cycles, page-faults")
      ->type_name("EVENT")
      ->allow_extra_args(false);
  add_parsed(app, "-F,--freq", &command->recording.frequency_hz, parse_frequency_hz,
             "samples per second of CPU time [999]", "HZ");
  add_parsed(
      app, "-d,--delay", &command->redraw_ns,
      [](const std::string& text) {
        const uint64_t ns = parse_duration_ns(text);
        if (ns < 200'000'000) throw CLI::ValidationError("a redraw is at least 200ms apart");
        return ns;
      },
      "redraw so often [1s]", "TIME");
  add_parsed(app, "-w,--window", &command->window_ns, parse_duration_ns,
             "show what was sampled in the last TIME, at most 60s; 0: since the start [10s]",
             "TIME");
  app->add_flag("-b,--batch", command->batch, "print text, for scripts, and read no keys");
  app->add_option("-n,--iterations", command->iterations,
                  "--batch: print so often, then end; 0: until Ctrl-C [0]")
      ->type_name("N")
      ->check(in_range(0u, 1'000'000u));
  add_word(app, "--by", &command->by_function, kTopRows, "what the rows are at first [process]");
  app->add_option("--limit", command->limit, "--batch: rows of each table; 0: all [20]")
      ->type_name("N");
  app->footer(
      "\nExamples:\n"
      "  culprit top                           the whole system; without the right to it, your "
      "own processes\n"
      "  culprit top -p 4711 --by function     one process\n"
      "  culprit top -- ./a.out args           a program; what it prints comes at the end\n"
      "  culprit top --batch -n 3 --by function -d 2s\n\n"
      "Keys: enter goes into a row, esc back, h explains the others.");
  app->callback([app, command, error] {
    RecordOptions& options = command->recording.record;
    options.command = take_program(*app);
    const bool has_target = !options.command.empty() || !options.pids.empty() ||
                            !options.cgroup.empty() || options.system_wide;
    command->takes_what_it_may = !has_target;
    if (!has_target) options.system_wide = true;
    *error = check_targets(options, "watch");
    if (!error->empty()) return;
    if (command->window_ns > 60'000'000'000) {
      *error = "--window is at most 60s, or 0 for everything";
    } else if (!command->batch && (app->count("--iterations") > 0 || app->count("--limit") > 0)) {
      *error = "--iterations and --limit are for --batch";
    }
  });
  return app;
}

}  // namespace culprit
