#include "simulate/second_run.h"

#include <csignal>
#include <fmt/format.h>
#include <sys/wait.h>
#include <utility>

#include "base/text.h"
#include "base/wait_status.h"
#include "host/describe_machine.h"
#include "model/profile_merger.h"
#include "recording/rerun_streams.h"
#include "simulate/joined_threads.h"

namespace culprit {
namespace {

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
  second.input_start_ = RerunStreams::find_input();
  return second;
}

Result<void> SecondRun::run(Recording& native, const std::function<Result<Recording>()>& simulate) {
  see(native.profile);
  Ledger& ledger = native.profile.ledger;
  Result<Recording> simulated = [&] {
    const RerunStreams streams(input_start_);
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
