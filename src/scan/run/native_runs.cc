#include "scan/run/native_runs.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <optional>

#include "base/time.h"
#include "base/wait_status.h"
#include "recording/started_command.h"
#include "scan/command_words.h"
#include "scan/loop_counts.h"
#include "scan/plan.h"
#include "scan/run/folder_guard.h"
#include "scan/run/redirected.h"

namespace culprit::scan {
namespace {

/// CPU time of a timed run: start-up, of a millisecond or so, should not matter much.
constexpr double kTimedRunNs = 20e6;
constexpr uint64_t kMostRuns = 1'000'000'000'000;
/// The smaller loop count is this part of the larger one.
constexpr uint64_t kSmallPart = 8;

/// An interval is looked at after 6, 9, 13, ... pairs, not after each: the more often one looks,
/// the likelier it is narrow by chance once.
size_t next_look(size_t pairs) {
  return std::min(kMostPairs, std::max(kLeastPairs, pairs + pairs / 2));
}

struct Clock {
  TimedProgram* program;
  size_t look_at = kLeastPairs;  // pairs
};

/// Whether nothing more is to be measured of it.
bool is_settled(const ScanSetting& setting, Clock& clock) {
  const TimedProgram& program = *clock.program;
  if (!program.failure.empty()) return true;
  const size_t pairs = program.timing.pairs.size();
  if (pairs >= kMostPairs) return true;
  if (pairs < clock.look_at) return false;
  clock.look_at = next_look(pairs);
  const auto time = estimate_time(program.timing, program.iterations_per_run);
  return time && 100 * relative_half_width(*time) <= setting.plan.time_percent;
}

}  // namespace

Result<uint64_t> run_natively(const ScanSetting& setting, const std::vector<std::string>& words,
                              uint64_t runs, const CheckStop& check_stop) {
  ASSIGN_OR_RETURN(const std::vector<std::string> command, fill_words(words, std::to_string(runs)));
  const FolderGuard folder(setting.folder);
  ASSIGN_OR_RETURN(const Redirected redirected, Redirected::make("/dev/null"));
  ASSIGN_OR_RETURN(StartedCommand running, StartedCommand::start(command));
  const uint64_t start_ns = monotonic_ns();
  const uint64_t limit_ns = setting.plan.timeout_s * 1'000'000'000;
  while (!running.wait(20)) {
    const Result<void> goes_on = check_stop();
    if (goes_on && monotonic_ns() - start_ns < limit_ns) continue;
    ::kill(running.pid(), SIGKILL);
    running.wait(1000);
    if (!goes_on) return goes_on.error();
    return Error{
        fmt::format("it did not end within {} s at {} runs", setting.plan.timeout_s, runs)};
  }
  if (running.wait_status() != 0) {
    RETURN_IF_ERROR(check_stop());  // Ctrl-C ends the program, too
    return Error{fmt::format("{} at {} runs", describe_wait_status(running.wait_status()), runs)};
  }
  return compute_cpu_ns(running.usage());
}

Result<uint64_t> choose_timed_runs(uint64_t least,
                                   const std::function<Result<uint64_t>(uint64_t runs)>& run) {
  uint64_t runs = std::max<uint64_t>(least, kSmallPart * 2);
  for (;;) {
    ASSIGN_OR_RETURN(const uint64_t cpu_ns, run(runs));
    const auto ns = static_cast<double>(cpu_ns);
    if (ns >= kTimedRunNs || runs > kMostRuns / 16) return runs;
    const double factor = ns > kTimedRunNs / 4 ? 1.1 * kTimedRunNs / ns : 4;
    runs = static_cast<uint64_t>(static_cast<double>(runs) * factor) + 1;
  }
}

uint64_t find_least_runs(uint64_t most_runs) {
  return most_runs / kSmallPart;
}

Result<void> time_programs(const ScanSetting& setting, std::vector<TimedProgram>& programs,
                           const CheckStop& check_stop) {
  std::optional<Error> stopped;
  const CheckStop check = [&]() -> Result<void> {
    const Result<void> goes_on = check_stop();
    if (!goes_on) stopped = goes_on.error();
    return goes_on;
  };
  std::vector<Clock> clocks;
  for (TimedProgram& program : programs) {
    const std::vector<uint64_t>& counted = setting.plan.runs;
    const uint64_t least = counted.empty() ? kUsualRuns.front() : counted.back();
    const Result<uint64_t> most = choose_timed_runs(
        least, [&](uint64_t runs) { return run_natively(setting, program.command, runs, check); });
    if (stopped) return *stopped;
    if (most) {
      program.timing.most_runs = *most;
      program.timing.least_runs = find_least_runs(*most);
    } else {
      program.failure = most.error().message;
    }
    clocks.push_back({&program});
  }
  while (!clocks.empty()) {
    for (Clock& clock : clocks) {
      TimedProgram& program = *clock.program;
      if (!program.failure.empty()) continue;
      const PairedTimes& timing = program.timing;
      const Result<uint64_t> least =
          run_natively(setting, program.command, timing.least_runs, check);
      const Result<uint64_t> most =
          least ? run_natively(setting, program.command, timing.most_runs, check) : least;
      if (stopped) return *stopped;
      if (most) {
        program.timing.pairs.push_back({*least, *most});
      } else {
        program.failure = most.error().message;
      }
    }
    std::erase_if(clocks, [&](Clock& clock) { return is_settled(setting, clock); });
  }
  return {};
}

}  // namespace culprit::scan
