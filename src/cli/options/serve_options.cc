#include "cli/options/command_options.h"
#include "cli/options/option_words.h"

namespace culprit {

CLI::App* add_serve(CLI::App& root, ServeCommand* command, std::string* error) {
  CLI::App* app = root.add_subcommand("serve", "the profile in a browser");
  app->add_option("FILE", command->files, "profiles, or folders of them [profile.culprit]")
      ->type_name("FILE");
  app->add_option("--port", command->port, "listen at this port [any that is free]")
      ->type_name("PORT")
      ->check(in_range(0, 65535));
  app->add_flag("!--no-browser", command->open_browser, "print the address, open no browser");
  app->add_option("--listen", command->listen,
                  "another address of this machine; wants --expose [127.0.0.1]")
      ->type_name("ADDRESS");
  CLI::Option* expose = app->add_flag("--expose")
                            ->description(
                                "I know: whoever reaches that address and has the word in the URL "
                                "sees names, source and "
                                "machine code of the profiles, unencrypted");
  app->footer(
      "\nExamples:\n"
      "  culprit serve                         profile.culprit, until Ctrl-C\n"
      "  culprit serve before.culprit after.culprit     and what changed between them\n"
      "  culprit serve nightly/                the profiles in a folder, by name\n"
      "  ssh -L 8080:127.0.0.1:8080 host culprit serve --port 8080 --no-browser\n\n"
      "The address has a secret word; without it nothing is answered. A profile that is recorded\n"
      "anew is read anew. For one file that needs no server: culprit export --to html.");
  app->callback([command, expose, error] {
    if (command->listen != kLoopback && expose->count() == 0) {
      *error = "--listen " + command->listen +
               " lets other machines in: add --expose if that is meant (ssh -L needs neither)";
    }
  });
  return app;
}

}  // namespace culprit
