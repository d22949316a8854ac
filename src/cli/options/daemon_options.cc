#include <fmt/format.h>

#include "cli/options/command_options.h"
#include "cli/options/option_words.h"
#include "daemon/control_request.h"
#include "epochs/time_words.h"

namespace culprit {

namespace {

constexpr Word<bool> kTold[] = {{"command", false}, {"process", true}};
constexpr Word<Format> kStatusFormats[] = {{"text", Format::text}, {"json", Format::json}};

/// "comm=cc*,cgroup=/build": all of them must hold.
void parse_filters(const std::string& text, EpochChoice* choice) {
  for (const std::string_view one : split(text, ',')) {
    const std::optional<ContextFilter> filter = parse_filter(one);
    if (!filter) {
      throw CLI::ValidationError(
          fmt::format("it takes comm=, cgroup= or label=PATTERN, not '{}' (report chooses rows "
                      "by --module, --function, --thread, ...)",
                      one));
    }
    choice->filters.push_back(*filter);
  }
}

int64_t parse_length(const std::string& text) {
  const Result<int64_t> seconds = parse_seconds(text);
  if (!seconds) throw CLI::ValidationError(seconds.error().message);
  if (*seconds < 1) throw CLI::ValidationError("that is no time at all");
  return *seconds;
}

void add_length(CLI::App* app, const std::string& name, int64_t* seconds,
                const std::string& description) {
  add_parsed(app, name, seconds, parse_length, description, "TIME");
}

/// What a running daemon is asked, as it takes it.
std::string join_request(const std::vector<std::string>& words, std::string* error) {
  std::string request;
  for (const std::string& word : words) request += (request.empty() ? "" : " ") + word;
  if (request.empty()) return request;
  const Result<ControlRequest> understood = parse_control_request(request);
  if (!understood) *error = understood.error().message;
  return request;
}

}  // namespace

void add_epoch_choice(CLI::App* app, EpochChoice* choice) {
  const auto chosen = [app, choice](const std::string& name, std::string* to,
                                    const std::string& description, const char* type) {
    add_taken(
        app, name,
        [choice, to](const std::string& text) {
          *to = text;
          choice->is_chosen = true;
        },
        description, type);
  };
  chosen("--db", &choice->database,
         "instead of a file: the epochs that culprit daemon collected in this folder "
         "[/var/lib/culprit, or ~/.local/state/culprit]",
         "DIR");
  chosen("--since", &choice->since, "those from then on: 2h, yesterday 10:00, 2026-11-25 10:00",
         "TIME");
  chosen("--from", &choice->from, "the same", "TIME");
  // `export` has a --to of its own.
  const bool is_free = app->get_option_no_throw("--to") == nullptr;
  chosen(is_free ? "--to,--until" : "--until", &choice->to, "those before", "TIME");
  chosen("--epoch", &choice->epoch, "those whose file names have this in them", "NAME");
  add_each_taken(
      app, "--where", [choice](const std::string& text) { parse_filters(text, choice); },
      "only what these did, in a file, too: comm=PATTERN, cgroup=PATTERN, label=PATTERN "
      "(culprit daemon label); of several all must hold",
      "FIELD=PATTERN");
  if (const CLI::Option* file = app->get_option_no_throw("--input")) {
    app->parse_complete_callback([choice, file] {
      if (choice->is_chosen && file->count() > 0) {
        throw CLI::ValidationError(
            "give a file, or a stretch of time of a database (--since, --db)");
      }
    });
  }
}

CLI::App* add_top_instructions(CLI::App& root, TopInstructionsCommand* command, std::string*) {
  CLI::App* app = root.add_subcommand("top-instructions",
                                      "the instructions of a binary with most samples, all epochs");
  ReportCommand* report = &command->report;
  report->question.report.by = {RowLevel::function, RowLevel::instruction};
  report->epochs.is_chosen = true;
  add_taken(
      app, "BINARY",
      [report](const std::string& name) {
        report->question.report.filters = {{RowLevel::module, name}};
      },
      "its path as processes saw it, its name, or a pattern", "BINARY")
      ->required();
  app->add_option("--limit", report->question.report.limit, "rows; 0: all [30]")->type_name("N");
  add_presentation(app, &report->format, &report->width);
  add_epoch_choice(app, &report->epochs);
  app->footer(
      "\nExamples:\n"
      "  culprit top-instructions libz.so.1\n"
      "  culprit top-instructions /usr/bin/python3.11 --since 1w --where comm=backup");
  return app;
}

CLI::App* add_daemon(CLI::App& root, DaemonCommand* command, std::string* error) {
  CLI::App* app =
      root.add_subcommand("daemon", "samples the whole system, all day, into a database of epochs");
  auto words = std::make_shared<std::vector<std::string>>();
  app->add_option("REQUEST", *words,
                  "asks the daemon that runs: status; flush (what is new, into its file); epoch "
                  "(begin a new one); rate HZ; events LIST (as -e, from now on; none: time alone); "
                  "pause; resume; label KEY=VALUE (of the epochs from now on); stop");
  app->add_option("--db", command->database,
                  "the database, a folder [/var/lib/culprit, or ~/.local/state/culprit]")
      ->type_name("DIR");
  add_taken(
      app, "--rate",
      [command](const std::string& text) {
        const Result<double> rate = parse_rate_hz(text);
        if (!rate) throw CLI::ValidationError(rate.error().message);
        command->rate_hz = *rate;
      },
      "samples a second on each CPU [by --budget]", "HZ");
  app->add_option("--budget", command->budget_percent,
                  "of each CPU's time, for samples: the rate follows from what one costs here [1]")
      ->type_name("PERCENT")
      ->check(in_range(0.01, 50.0));
  app->add_option("-e,--event", command->events,
                  "events to sample beside time, as `culprit record` takes them, each every so "
                  "often: page-faults/period=50/ [of 101 of the kernel's own, 10,000,019 cycles or "
                  "instructions, 100,003 others]; {in braces} are sets that take turns; may be "
                  "repeated")
      ->type_name("EVENT")
      ->allow_extra_args(false);
  add_word(app, "--by", &command->by_process, kTold,
           "what is told apart: command, or each process, too (report --by process) [command]");
  app->add_option("--stacks", command->stacks_hz,
                  "call stacks, too, so often a second on each CPU (19): who calls what is hot; "
                  "half of the budget at most [none]")
      ->type_name("HZ")
      ->check(in_range(1.0, 999.0));
  add_length(app, "--epoch", &command->epoch_s, "a new file every so often [10m]");
  add_length(app, "--flush", &command->flush_s, "what kill -9 may cost at most [1m]");
  add_length(app, "--keep", &command->keeping.forget_after_s, "older epochs are removed [90d]");
  app->add_option("--most-megabytes", command->most_megabytes,
                  "so much for epochs and symbols: beyond it the oldest go; 0: any [1000]")
      ->type_name("N");
  add_off_flag(app, "--no-bpf", &command->use_bpf, "read the rings of perf_event instead");
  add_off_flag(app, "--no-symbols", &command->symbolize,
               "leave symbols to whoever asks for a report");
  add_snapshot_options(app, &command->snapshot);
  add_word(app, "--format", &command->format, kStatusFormats, "how to print a status");
  app->footer(
      "\nExamples:\n"
      "  culprit daemon --db /var/lib/culprit     in the foreground; Ctrl-C ends it\n"
      "  culprit daemon --stacks 19               and who calls what is hot\n"
      "  culprit daemon status                    rate, samples, losses, cost, memory\n"
      "  culprit daemon rate 500                  from now on\n"
      "  culprit daemon events page-faults        beside time, from now on\n"
      "  culprit report --since 2h                what it collected");
  app->callback([command, words, error] { command->request = join_request(*words, error); });
  return app;
}

}  // namespace culprit
