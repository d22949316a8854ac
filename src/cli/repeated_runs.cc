// Each run is recorded into a file of its own, in a child of ours. They are put together at the
// end: the runs stay apart by label, their images are found once.

#include "cli/repeated_runs.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/complete_profile.h"
#include "cli/output_file.h"
#include "cli/run_program.h"
#include "cli/terminal.h"
#include "model/labelled_runs.h"
#include "model/profile_merger.h"
#include "store/profile_file.h"

namespace culprit {
namespace {

struct Version {
  std::string name;  // "" if there is but one
  std::vector<std::string> command;
};

std::vector<Version> versions_of(const RecordCommand& command) {
  if (command.compared.empty()) return {{"", command.record.command}};
  std::vector<Version> versions;
  for (const auto& [name, text] : command.compared) {
    versions.push_back({name, {"/bin/sh", "-c", "exec " + text}});
  }
  return versions;
}

/// Records one run into `path`, in a child; its wait status.
Result<int> record_once(const RecordCommand& command, const Version& version,
                        const std::string& path) {
  RecordCommand one = command;
  one.repetitions = 1;
  one.compared.clear();
  one.record.command = one.simulate.command = version.command;
  one.output = path;
  one.quiet = true;
  one.symbolize = false;
  one.report_after = false;
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return Error{fmt::format("cannot start a run: {}", std::strerror(errno))};
  if (child == 0) {
    const int status = run(one);
    std::fflush(nullptr);
    ::_exit(status);
  }
  // Ctrl-C is for the program, whose end the child reports.
  struct sigaction ignored{};
  struct sigaction before{};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGINT, &ignored, &before);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ::sigaction(SIGINT, &before, nullptr);
  return status;
}

/// Adds what a run left to the others.
class RunCollector {
 public:
  Result<void> add(const std::string& path, const Version& version, uint32_t repetition) {
    ASSIGN_OR_RETURN(ProfileReader reader, ProfileReader::open(path));
    ASSIGN_OR_RETURN(Profile profile, reader.read_profile());
    for (Run& run : profile.runs) {
      run.labels[profile.strings.intern(kRepetitionLabel)] =
          profile.strings.intern(std::to_string(repetition));
      if (!version.name.empty()) {
        run.labels[profile.strings.intern(kVersionLabel)] = profile.strings.intern(version.name);
      }
    }
    // What was measured of the clock, and of what a sample takes, differs a little each time.
    if (!clock_) clock_ = profile.machine.clock;
    profile.machine.clock = clock_;
    if (!profile.events.empty() && profile.events.front().unit == Unit::ns) {
      if (!time_scale_) time_scale_ = profile.events.front().scale;
      profile.events.front().scale = *time_scale_;
    }
    merger_.add(profile);
    return {};
  }

  Profile take() { return merger_.take(); }

 private:
  ProfileMerger merger_;
  std::optional<ClockCalibration> clock_;
  std::optional<double> time_scale_;  // of sampled time, the first event
};

Result<void> record_all(const RecordCommand& command, const std::string& folder,
                        RunCollector& runs) {
  const std::vector<Version> versions = versions_of(command);
  for (uint32_t repetition = 1; repetition <= command.repetitions; ++repetition) {
    for (size_t i = 0; i < versions.size(); ++i) {
      const Version& version = versions[i];
      const std::string path = fmt::format("{}/{}-{}.culprit", folder, i, repetition);
      const std::string name = version.name.empty() ? "run" : printable(version.name);
      if (!command.quiet) {
        print_message(fmt::format("{} {} of {}", name, repetition, command.repetitions));
      }
      ASSIGN_OR_RETURN(const int status, record_once(command, version, path));
      if (status != 0) {
        return Error{
            WIFSIGNALED(status)
                ? fmt::format("{} {} was ended by signal {}: runs that end differently "
                              "cannot be compared",
                              name, repetition, WTERMSIG(status))
                : fmt::format("{} {} ended with status {}: runs that fail are not compared", name,
                              repetition, WEXITSTATUS(status))};
      }
      RETURN_IF_ERROR(runs.add(path, version, repetition));
      ::unlink(path.c_str());
    }
  }
  return {};
}

}  // namespace

int record_repeatedly(const RecordCommand& command) {
  const auto folder = TemporaryFolder::make();
  if (!folder) return fail(folder.error(), kOurFailure);
  Result<OutputFile> output = OutputFile::claim(
      {command.output, OutputKind::profile, command.force, command.record.command});
  if (!output) return fail(output.error(), kOurFailure);
  const auto give_up = [&](const Error& error) {
    output->give_back();
    return fail(error, kOurFailure);
  };
  RunCollector runs;
  if (const Result<void> done = record_all(command, folder->path(), runs); !done) {
    return give_up(done.error());
  }
  Result<ProfileWriter> writer = ProfileWriter::create(command.output);
  if (!writer) return give_up(writer.error());
  if (const Result<void> closed = writer->close(runs.take()); !closed) {
    writer = Error{};
    return give_up(closed.error());
  }
  if (command.symbolize) {
    const auto done = complete_profile(command.output, {}, {}, command.snapshot, command.quiet);
    if (!done) return fail(done.error(), kOurFailure);
  }
  if (!command.quiet) {
    print_message(
        fmt::format("{} runs -> {}; next: culprit {} {}",
                    command.repetitions * versions_of(command).size(), printable(command.output),
                    command.compared.empty() ? "variance" : "diff", printable(command.output)));
  }
  return 0;
}

}  // namespace culprit
