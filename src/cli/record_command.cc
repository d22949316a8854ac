// `culprit record` and `culprit PROGRAM`: record into a file, complete it with
// symbols, say what became of it, and end as the program ended.

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/output_file.h"
#include "cli/program_files.h"
#include "cli/symbolizing.h"
#include "cli/terminal.h"
#include "cli/unwinding.h"
#include "collect/capabilities.h"
#include "store/profile_file.h"

namespace culprit {

namespace {

// As timeout(1): our own failures stay apart from the program's statuses.
constexpr int kOurFailure = 125;
constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;

/// Why `program` cannot be run, with the status to exit with; nullopt if it looks runnable.
struct Unrunnable {
  int status;
  std::string reason;
};

std::optional<Unrunnable> check_program(const std::string& program) {
  const auto check = [](const std::string& path) -> std::optional<Unrunnable> {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) {
      return Unrunnable{errno == ENOENT || errno == ENOTDIR ? kNotFound : kCannotRun,
                        errno_error("", errno).message.substr(2)};
    }
    if (S_ISDIR(status.st_mode)) return Unrunnable{kCannotRun, "it is a directory"};
    if (::access(path.c_str(), X_OK) != 0) {
      return Unrunnable{kCannotRun, "it is not executable (chmod +x?)"};
    }
    return std::nullopt;
  };
  if (program.find('/') != std::string::npos) return check(program);
  std::optional<Unrunnable> worst = Unrunnable{kNotFound, "not found in PATH"};
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path != nullptr ? path : "", ':')) {
    const auto problem = check(std::string(folder.empty() ? "." : folder) + "/" + program);
    if (!problem) return std::nullopt;
    if (problem->status == kCannotRun) worst = problem;
  }
  return worst;
}

void announce(const RecordCommand& command) {
  if (command.record.engine == Engine::simulate) {
    print_message("simulating in user mode: expect 10 to 50 times the program's own time");
    return;
  }
  const uint64_t period_ns = command.record.period_ns;
  const std::string rate = format_thousands((1'000'000'000 + period_ns / 2) / period_ns);
  print_message(fmt::format("{}sampling time at {} Hz",
                            describe_machine().has_pmu ? "" : "this machine has no PMU; ", rate));
}

/// Ends this process as the program ended: same status, or the same signal.
int end_like(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    std::fflush(nullptr);
    std::signal(WTERMSIG(wait_status), SIG_DFL);
    ::raise(WTERMSIG(wait_status));
    return 128 + WTERMSIG(wait_status);
  }
  return WEXITSTATUS(wait_status);
}

std::string describe_samples(const Recording& recording) {
  return fmt::format(
      "{} samples{}", format_thousands(recording.samples),
      recording.lost == 0 ? "" : fmt::format(", {} lost", format_thousands(recording.lost)));
}

/// Writes, completes and describes what was recorded; `amount` says how much that is.
Result<void> finish(const RecordCommand& command, ProfileWriter writer, Recording& recording,
                    const std::string& amount) {
  RETURN_IF_ERROR(writer.close(recording.profile));
  if (command.symbolize) {
    ASSIGN_OR_RETURN(const SymbolizeOutcome outcome,
                     symbolize_file(command.output, recording.held, recording.jit_facts,
                                    command.snapshot, command.quiet));
    if (outcome.interrupted) {
      print_message(
          fmt::format("interrupted while reading symbols; to complete the profile:\n"
                      "culprit symbolize {}",
                      command.output));
    }
  }
  if (command.quiet) return {};
  for (const std::string& remark : recording.remarks) print_message(remark);
  print_message(
      fmt::format("{} -> {} ({})", amount, command.output, file_size_text(command.output)));
  return {};
}

/// Samples the command, or what else is to be recorded; `flushed` says whether the file has
/// some of it already.
Result<Recording> record_samples(const RecordCommand& command, ProfileWriter& writer,
                                 bool* flushed) {
  RecordOptions options = command.record;
  options.shim_path = find_shim();
  options.make_unwinder = [](OpenMappedFile open) {
    return make_unwinder(describe_machine().architecture, std::move(open));
  };
  ProgressLine line;
  return record(
      options,
      [&](const Profile& profile) {
        *flushed = true;
        return writer.flush(profile);
      },
      [&](const RecordProgress& now) {
        if (command.quiet) return;
        line.show(fmt::format("running {:6.1f} s   {} samples   {} lost", now.elapsed_s,
                              format_thousands(now.samples), format_thousands(now.lost)));
      });
}

Result<Simulation> run_simulation(const RecordCommand& command) {
  SimulateOptions options = command.simulate;
  options.plugin_path = find_qemu_plugin();
  if (command.machine != "none") {
    ASSIGN_OR_RETURN(options.machine, find_machine(command.machine, find_machines()));
  }
  ProgressLine line;
  return run_simulated(options, [&](const SimulateProgress& now) {
    if (command.quiet) return;
    line.show(fmt::format("simulating {:6.1f} s   {} instructions   {:.0f} million per second",
                          now.elapsed_s, format_thousands(now.instructions),
                          static_cast<double>(now.instructions) / now.elapsed_s * 1e-6));
  });
}

}  // namespace

int run_record(const RecordCommand& command) {
  if (!command.record.command.empty()) {
    const std::string& program = command.record.command.front();
    if (const auto problem = check_program(program)) {
      return fail(Error{"cannot run '" + program + "': " + problem->reason}, problem->status);
    }
  }
  survive_file_size_limit();
  Result<OutputFile> output = OutputFile::claim(command.output);
  if (!output) return fail(output.error(), kOurFailure);
  Result<ProfileWriter> writer = ProfileWriter::create(command.output);
  if (!writer) {
    output->give_back();
    return fail(writer.error(), kOurFailure);
  }
  if (!command.quiet) announce(command);

  bool flushed = false;
  std::string amount;
  Result<Recording> recording = [&]() -> Result<Recording> {
    if (command.record.engine != Engine::simulate) {
      ASSIGN_OR_RETURN(Recording sampled, record_samples(command, *writer, &flushed));
      amount = describe_samples(sampled);
      return sampled;
    }
    ASSIGN_OR_RETURN(Simulation simulation, run_simulation(command));
    amount = fmt::format("{} instructions", format_thousands(simulation.instructions));
    return std::move(simulation.recording);
  }();
  if (!recording) {
    if (!flushed) {
      writer = Error{};  // closes the file before it goes
      output->give_back();
    } else {
      print_message(fmt::format("what was recorded before is in {}", command.output));
    }
    return fail(recording.error(), kOurFailure);
  }

  if (const Result<void> done = finish(command, *std::move(writer), *recording, amount); !done) {
    return fail(done.error(), kOurFailure);
  }
  if (command.report_after) {
    ReportCommand report;
    report.file = command.output;
    if (const int status = run_report(report); status != 0) return kOurFailure;
  }
  return recording->command_started ? end_like(recording->command_wait_status) : 0;
}

}  // namespace culprit
