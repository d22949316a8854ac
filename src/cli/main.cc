// culprit: the way from argv to a command and its exit status.

#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <string>
#include <variant>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"

namespace culprit {
namespace {

int run(const RecordCommand& command) {
  return run_record(command);
}
int run(const StatCommand& command) {
  return run_stat(command);
}
int run(const ReportCommand& command) {
  return run_report(command);
}
int run(const AnnotateCommand& command) {
  return run_annotate(command);
}
int run(const WhyCommand& command) {
  return run_why(command);
}
int run(const ExportCommand& command) {
  return run_export(command);
}
int run(const ImportCommand& command) {
  return run_import(command);
}
int run(const SymbolizeCommand& command) {
  return run_symbolize(command);
}
int run(const DoctorCommand& command) {
  return run_doctor(command);
}
int run(const EventsCommand& command) {
  return run_events(command);
}
int run(const TemplatesCommand& command) {
  return run_templates(command);
}
int run(const Usage& usage) {
  fmt::print(usage.status == 0 ? stdout : stderr, "{}", usage.text);
  return usage.status;
}

}  // namespace
}  // namespace culprit

int main(int argc, char** argv) {
  // A closed pipe (`culprit report | head`) ends us quietly, as it does for other filters.
  std::signal(SIGPIPE, SIG_DFL);
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return std::visit([](const auto& command) { return culprit::run(command); },
                    culprit::parse_command_line(arguments));
}
