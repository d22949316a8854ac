// The options of `culprit diff` and `culprit variance`.

#include <fmt/format.h>

#include "base/number.h"
#include "base/text.h"
#include "cli/options/command_options.h"
#include "cli/options/option_words.h"

namespace culprit {
namespace {

/// Formats that are refused are options, too: their error says what to take instead.
template <class Command>
void add_comparison(CLI::App* app, Command* command) {
  add_levels(app, &command->question.by);
  app->add_option("--event", command->question.event, "by this event [the first that all have]")
      ->type_name("NAME");
  app->add_option("--min-samples", command->question.options.least_samples,
                  "rows with fewer, in the mean of the runs, are not tested [20]")
      ->type_name("N")
      ->check(in_range(1.0, 1e9));
  CLI::Option* limit =
      app->add_option("--limit", command->limit, "rows to print; 0: all [30]")->type_name("N");
  add_presentation(app, &command->format, &command->width);
  app->parse_complete_callback([command, limit] {
    if (command->format != Format::text && limit->count() == 0) command->limit = 0;
  });
}

/// "5%" or "5".
double parse_percent(std::string text) {
  if (!text.empty() && text.back() == '%') text.pop_back();
  const auto value = find_real_number(text);
  if (!value || !(*value >= 0) || *value > 1e6) {
    throw CLI::ValidationError(fmt::format("'{}' is no percentage: 5%", printable(text)));
  }
  return *value;
}

}  // namespace

CLI::App* add_diff(CLI::App& root, DiffCommand* command, std::string* error) {
  CLI::App* app = root.add_subcommand("diff", "what changed between two runs, or groups of runs");
  app->add_option("FILE", command->files,
                  "two profiles: the old one and the new one; or one of record --compare")
      ->type_name("FILE");
  app->add_option("--base", command->base, "profiles of the old program, a run each")
      ->type_name("FILE");
  app->add_option("--new", command->fresh, "profiles of the new program, a run each")
      ->type_name("FILE");
  app->add_option("--spread", command->question.options.spread,
                  "between runs, relative, where one run a side does not tell [0.05]")
      ->type_name("R")
      ->check(in_range(0.0, 1.0));
  add_parsed(app, "--fail-above", &command->fail_above, parse_percent,
             "exit with status 3 if the total, what all rows share, or a row of a hundredth of the "
             "total takes more than this, for certain (95 %)",
             "PERCENT");
  add_comparison(app, command);
  add_epoch_choice(app, &command->epochs);
  app->footer(
      "\nWith --since and --to each finished epoch of culprit daemon is a run: what ran\n"
      "from --since on is compared with what ran from --to on.\n"
      "\nExamples:\n"
      "  culprit diff --since 'yesterday 10:00' --to 'yesterday 12:00' --by comm,function\n"
      "  culprit diff old.culprit new.culprit                 one run each: not tested\n"
      "  culprit diff --base a1 a2 a3 --new b1 b2 b3          tested\n"
      "  culprit diff both.culprit       tested: of record -o both.culprit --compare ...\n"
      "  culprit diff --by module,function --event instructions old.culprit new.culprit\n"
      "  culprit diff --fail-above 5% --base a* --new b*      for CI");
  app->callback([command, error] {
    if (command->epochs.is_chosen) {
      if (!command->files.empty() || !command->base.empty() || !command->fresh.empty()) {
        *error = "either files or epochs (--since, --to, --db) are compared";
      } else if (command->epochs.to.empty()) {
        *error = "--to says where the epochs begin that are compared with those before";
      }
      return;
    }
    const bool has_groups = !command->base.empty() || !command->fresh.empty();
    if (!has_groups && command->files.size() == 2) {
      command->base = {command->files[0]};
      command->fresh = {command->files[1]};
    } else if (has_groups &&
               (!command->files.empty() || command->base.empty() || command->fresh.empty())) {
      *error = "groups are given as --base FILE... --new FILE..., without other files";
    } else if (!has_groups && command->files.size() != 1) {
      *error = "two profiles are compared: culprit diff OLD NEW, or --base FILE... --new FILE...";
    }
  });
  return app;
}

CLI::App* add_variance(CLI::App& root, VarianceCommand* command, std::string* error) {
  CLI::App* app = root.add_subcommand("variance", "what varies from run to run of one program");
  app->add_option("FILE", command->files, "profiles, a run each; two or more, or one of record -r")
      ->type_name("FILE");
  add_comparison(app, command);
  add_epoch_choice(app, &command->epochs);
  app->footer(
      "\nWith --since (--db, --to) each finished epoch of culprit daemon is a run.\n"
      "\nExamples:\n"
      "  culprit variance --since 24h --by comm,function\n"
      "  culprit record -r 5 -o runs.culprit ./a.out; culprit variance runs.culprit\n"
      "  culprit variance run?.culprit\n"
      "  culprit variance --by line run?.culprit");
  app->callback([command, error] {
    if (command->epochs.is_chosen) {
      if (!command->files.empty()) *error = "either files or epochs (--since, --db) are compared";
      return;
    }
    if (command->files.empty()) {
      *error = "name a profile of culprit record -r, or two profiles or more";
    }
  });
  return app;
}

}  // namespace culprit
