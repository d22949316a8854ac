#pragma once

// The options of each command, into its struct (command_line.h), and the subcommand that has
// them. `error`: what is wrong with them together; "" if nothing is.

#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "cli/options/command_line.h"
#include "cli/options/option_words.h"

namespace culprit {

/// Stands for "--" before a program while CLI11 parses, which would else take the program's
/// words for arguments of ours. No word can have a NUL.
inline constexpr std::string_view kDashes("\0--", 3);

// recording_options.cc: commands that watch programs
CLI::App* add_record(CLI::App& root, RecordCommand* command, std::string* error);
CLI::App* add_stat(CLI::App& root, StatCommand* command, std::string* error);

// profile_options.cc: commands that read and make profiles, or look at the machine
CLI::App* add_report(CLI::App& root, ReportCommand* command, std::string* error);
CLI::App* add_annotate(CLI::App& root, AnnotateCommand* command, std::string* error);
CLI::App* add_why(CLI::App& root, WhyCommand* command, std::string* error);
CLI::App* add_locality(CLI::App& root, LocalityCommand* command, std::string* error);
CLI::App* add_export(CLI::App& root, ExportCommand* command, std::string* error);
CLI::App* add_import(CLI::App& root, ImportCommand* command, std::string* error);
CLI::App* add_symbolize(CLI::App& root, SymbolizeCommand* command, std::string* error);
CLI::App* add_doctor(CLI::App& root, DoctorCommand* command, std::string* error);
CLI::App* add_calibrate(CLI::App& root, CalibrateCommand* command, std::string* error);
CLI::App* add_events(CLI::App& root, EventsCommand* command, std::string* error);

// of commands that read a profile and print
void add_input(CLI::App* app, std::string* file);
void add_presentation(CLI::App* app, Format* format, size_t* width);

// templates_options.cc
CLI::App* add_templates(CLI::App& root, TemplatesCommand* command, std::string* error);

// scan_options.cc
CLI::App* add_scan(CLI::App& root, ScanCommand* command, std::string* error);

void add_snapshot_options(CLI::App* app, SnapshotOptions* options);
/// Where a new profile goes, and how it is completed: of a RecordCommand or ImportCommand.
template <class Command>
void add_profile_output(CLI::App* app, Command* command) {
  app->add_option("-o,--output", command->output, "the profile [profile.culprit]")
      ->type_name("FILE");
  app->add_flag("-q,--quiet", command->quiet, "no messages but errors");
  add_off_flag(app, "--no-symbols", &command->symbolize,
               "leave names and lines to `culprit symbolize`");
  add_snapshot_options(app, &command->snapshot);
}

}  // namespace culprit
