#include "cli/options/command_options.h"

namespace culprit {
namespace {

constexpr Word<ValidateEngine> kValidateEngines[] = {{"auto", ValidateEngine::automatic},
                                                     {"simulate", ValidateEngine::simulate},
                                                     {"pmu", ValidateEngine::pmu}};
constexpr Word<Format> kValidationFormats[] = {{"text", Format::text}, {"json", Format::json}};

}  // namespace

CLI::App* add_validate(CLI::App& root, ValidateCommand* command, std::string* /*error*/) {
  CLI::App* app = root.add_subcommand(
      "validate", "whether events count what they are said to: kernels that are known by hand");
  add_word(app, "--engine", &command->engine, kValidateEngines,
           "auto: this machine's counters, else the software PMU; simulate; pmu");
  app->add_option(
         "--template", command->cpu,
         "the events of this template that say what they count: auto (by this CPU), a name "
         "that `culprit templates` lists, or a file [the kernel's generic events]")
      ->type_name("auto|NAME|FILE");
  app->add_option("--machine", command->machine,
                  "of the software PMU: host, a machine's name, or a file [host]")
      ->type_name("NAME|FILE");
  app->add_option("--only", command->only, "these kernels alone, separated by commas")
      ->type_name("KERNEL,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  app->add_option("--report", command->report,
                  "writes the table as JSON there, too: for data/validation, or to send it to us")
      ->type_name("FILE");
  add_force(app, &command->force);
  add_word(app, "--format", &command->format, kValidationFormats, "how to print");
  app->footer(
      "\nExits with 0 if each event was counted as its kernels cause it, with 1 if one\n"
      "was not.\n"
      "\nExamples:\n"
      "  culprit validate                                       what counts here, generic events\n"
      "  culprit validate --template auto --report zen4.json    this CPU's template, by one "
      "command\n"
      "  culprit validate --engine simulate --machine zen4      the software PMU\n"
      "  culprit validate --only random-branches,random-words   what a misprediction costs");
  return app;
}

}  // namespace culprit
