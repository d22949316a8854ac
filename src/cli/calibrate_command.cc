// `culprit calibrate`: measures this machine, and keeps the figures where --machine host finds
// them.

#include <ctime>
#include <filesystem>
#include <fmt/format.h>

#include "calibrate/calibrate.h"
#include "calibrate/calibration_text.h"

#include "base/cpuid.h"
#include "base/file.h"
#include "base/program_files.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output_file.h"
#include "cli/terminal.h"
#include "host/describe_machine.h"
#include "simulate/find_machine.h"

namespace culprit {
namespace {

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[16];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d", &parts)};
}

Result<OutputStream> open_machine_file(const std::string& path, bool force) {
  Result<OutputStream> file =
      OutputStream::open({.path = path, .kind = OutputKind::machine_file, .force = force});
  if (!file)
    return file.error().with(file.error().message + "\n-o FILE keeps the figures elsewhere");
  return file;
}

}  // namespace

int run(const CalibrateCommand& command) {
  const std::string path = command.output.empty() ? find_calibration() : command.output;
  if (path.empty()) return fail(Error{"there is no home folder to keep it in: name a file (-o)"});
  const Result<std::string> cpu = read_cpuid();
  if (!cpu) return fail(cpu.error());
  const Result<simulate::MachineModel> machine = find_machine("host", find_machines());
  if (!machine) return fail(machine.error());

  // Before the measuring, which would be for nothing.
  if (command.output.empty()) {
    std::error_code ignored;  // what is wrong shows when the file is opened
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  }
  Result<OutputStream> file = open_machine_file(path, command.force);
  if (!file) return fail(file.error());
  const InterruptGuard interrupts;
  ProgressLine line;
  const Calibration found = calibrate(
      *machine, {}, [&] { return interrupts.is_interrupted(); },
      [&](double done) { line.show(fmt::format("measuring: {:.0f} %", 100 * done)); });
  line.clear();
  if (!found.is_complete) return fail(Error{"interrupted: nothing was kept"});
  if (2 * count_kept(found) < found.figures.size() + found.lacks.size()) {
    print_message(print_calibration(found));
    return fail(
        Error{"too much of it is not known: nothing was kept; run it again where less runs"});
  }
  const CalibrationHead head{*cpu, describe_machine().cpu_model, today()};
  if (const auto written = file->write(print_machine_file(found, head)); !written) {
    return fail(written.error());
  }
  const std::string where = command.output.empty() ? "--machine host" : "--machine " + path;
  const std::string text =
      print_calibration(found) +
      fmt::format("\nKept in {}: {} has it\n", printable(path), printable(where));
  if (const Result<void> written = write_output(text); !written) return fail(written.error());
  return 0;
}

}  // namespace culprit
