#include "simulate/second_run.h"

#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "base/wait_status.h"
#include "host/describe_machine.h"
#include "model/profile_merger.h"
#include "simulate/joined_threads.h"

namespace culprit {
namespace {

/// /dev/null in place of one of our standard streams, which the command inherits.
class NullStream {
 public:
  NullStream(int stream, int flags) : stream_(stream) {
    const Fd null(::open("/dev/null", flags | O_CLOEXEC));
    before_ = Fd(::fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (before_ && null) ::dup2(null.get(), stream);
  }
  NullStream(const NullStream&) = delete;
  NullStream& operator=(const NullStream&) = delete;
  ~NullStream() {
    if (before_) ::dup2(before_.get(), stream_);
  }

 private:
  int stream_;
  Fd before_;
};

/// Reads standard input from there again; afterwards it is where the native run left it.
class RewoundInput {
 public:
  explicit RewoundInput(off_t start) : end_(::lseek(STDIN_FILENO, 0, SEEK_CUR)) {
    ::lseek(STDIN_FILENO, start, SEEK_SET);
  }
  RewoundInput(const RewoundInput&) = delete;
  RewoundInput& operator=(const RewoundInput&) = delete;
  ~RewoundInput() {
    if (end_ >= 0) ::lseek(STDIN_FILENO, end_, SEEK_SET);
  }

 private:
  off_t end_;
};

/// The simulated run's own words and files, under the images that its own became.
void take_over(Recording& native, Recording simulated) {
  simulated.profile.machine = native.profile.machine;  // the native run's has the clock, too
  // What was flushed already and the files held open name rows of the native run: its ids stay.
  ProfileMerger merger(std::move(native.profile));
  const std::vector<ImageId> became = merger.add(simulated.profile);
  native.profile = merger.take();
  for (auto& [image, file] : simulated.held) {
    native.held.try_emplace(became[image.value], std::move(file));
  }
  for (auto& [image, facts] : simulated.jit_facts) {
    native.jit_facts.emplace_back(became[image.value], std::move(facts));
  }
  for (std::string& remark : simulated.remarks) native.remarks.push_back(std::move(remark));
}

}  // namespace

Result<SecondRun> SecondRun::prepare(const SimulateOptions& options) {
  ASSIGN_OR_RETURN(const std::string architecture, check_simulated(options));
  const std::string own = describe_machine().architecture;
  if (architecture != own) {
    return Error{fmt::format(
        "cannot run '{}' natively: it is for {}, this machine is {}\n-> --engine simulate",
        printable(options.command.front()), architecture, own)};
  }
  SecondRun second;
  const off_t start = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
  if (start >= 0) second.input_start_ = start;
  return second;
}

Result<void> SecondRun::run(Recording& native, const std::function<Result<Recording>()>& simulate) {
  see(native.profile);
  Ledger& ledger = native.profile.ledger;
  Result<Recording> simulated = [&] {
    const NullStream output(STDOUT_FILENO, O_WRONLY);
    if (input_start_) {
      const RewoundInput input(*input_start_);
      return simulate();
    }
    const NullStream input(STDIN_FILENO, O_RDONLY);
    return simulate();
  }();
  if (!simulated) {
    const std::string& message = simulated.error().message;
    ledger.note("not simulated: " + message.substr(0, message.find('\n')));
    return simulated.error();
  }
  const int status = simulated->command_wait_status;
  const bool interrupted = simulated->interrupted;
  take_over(native, *std::move(simulated));
  if (!input_start_) {
    ledger.note(
        "the simulated run had no standard input: that of the native run cannot be rewound");
  }
  if (interrupted) {
    native.remarks.emplace_back("interrupted: the counts are those of a part of the simulated run");
    native.command_wait_status = WIFSIGNALED(status) ? status : SIGINT;
  } else if (native.command_started && status != native.command_wait_status) {
    ledger.note(fmt::format("the simulated run ended with {}, the native run with {}",
                            describe_wait_status(status),
                            describe_wait_status(native.command_wait_status)));
  }
  ledger.note(describe_joined(samples_.join(native.profile)));
  const std::string threads = describe_joined(join_threads(samples_, native.profile));
  if (!threads.empty()) ledger.note(threads);
  return {};
}

}  // namespace culprit
