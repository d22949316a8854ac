#include "cli/options/command_options.h"
#include "cli/options/option_words.h"

namespace culprit {
namespace {

constexpr Word<TemplatesAction> kActions[] = {{"list", TemplatesAction::list},
                                              {"show", TemplatesAction::show},
                                              {"lint", TemplatesAction::lint}};
constexpr Word<Format> kTemplateFormats[] = {{"text", Format::text}, {"json", Format::json}};

}  // namespace

CLI::App* add_templates(CLI::App& root, TemplatesCommand* command, std::string* error) {
  CLI::App* app = root.add_subcommand("templates", "how the events of each CPU become cycles");
  add_word(app, "ACTION", &command->action, kActions,
           "list: the CPUs that have one; show NAME: one of them; lint [FILE...]: whether they are "
           "right");
  app->add_option("NAME", command->names, "a template, or a file (.toml)")->type_name("NAME");
  CLI::Option* format =
      add_word(app, "--format", &command->format, kTemplateFormats, "how to print lists and trees");
  app->footer(
      "\nExamples:\n"
      "  culprit templates                      the CPUs that have a template; which is here\n"
      "  culprit templates show ivy-bridge-ep   its branches, events and penalties\n"
      "  culprit templates lint                 checks all that are shipped\n"
      "  culprit templates lint my-cpu.toml     checks a file that you write");
  app->callback([command, format, error] {
    if (command->action == TemplatesAction::show && command->names.size() != 1) {
      *error = "show takes one template: culprit templates lists them";
    } else if (command->action == TemplatesAction::list && !command->names.empty()) {
      *error = "list takes no name: culprit templates show NAME shows one";
    } else if (command->action == TemplatesAction::lint && format->count() > 0) {
      *error = "lint prints FILE:LINE: MESSAGE, and has no --format";
    }
  });
  return app;
}

}  // namespace culprit
