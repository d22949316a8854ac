#pragma once

// The options of each command, into its struct (command_line.h), and the subcommand that has
// them. `error`: what is wrong with them together; "" if nothing is.

#include <string>
#include <string_view>

#include "cli/options/command_line.h"
#include "cli/options/option_words.h"
#include <CLI/CLI.hpp>

namespace culprit {

/// Stands for "--" before a program while CLI11 parses, which would else take the program's
/// words for arguments of ours. No word can have a NUL.
inline constexpr std::string_view kDashes("\0--", 3);

// add_record(), add_stat(), ...: those of commands that watch programs are in recording_options.cc,
// of commands that read a profile or look at the machine in profile_options.cc, of others in a
// file of their own.
#define COMMAND(type, add) CLI::App* add(CLI::App& root, type* command, std::string* error);
#include "cli/options/commands.def"
#undef COMMAND

/// The profile that is read; --by LEVEL; --format and --width.
void add_input(CLI::App* app, std::string* file);
void add_levels(CLI::App* app, std::vector<RowLevel>* by, bool* by_time = nullptr);
void add_presentation(CLI::App* app, Format* format, size_t* width);
/// --db, --since, --from, --to, --epoch, --where.
void add_epoch_choice(CLI::App* app, EpochChoice* choice);
void add_snapshot_options(CLI::App* app, SnapshotOptions* options);
/// Where a new profile goes, and how it is completed: of a RecordCommand or ImportCommand.
template <class Command>
void add_profile_output(CLI::App* app, Command* command) {
  const OptionGroup group(app, "The profile");
  app->add_option("-o,--output", command->output, "the profile [profile.culprit]")
      ->type_name("FILE");
  add_force(app, &command->force);
  app->add_flag("-q,--quiet", command->quiet, "no messages but errors");
  add_off_flag(app, "--no-symbols", &command->symbolize,
               "leave names and lines to `culprit symbolize`");
  add_snapshot_options(app, &command->snapshot);
}

}  // namespace culprit
