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

/// Intervals are looked at after 6, 9, 13, ... rounds, not after each: the more often one looks,
/// the likelier it is narrow by chance once.
size_t next_look(size_t rounds) {
  return std::min(kMostPairs, std::max(kLeastPairs, rounds + rounds / 2));
}

/// A program that is not known yet.
struct Unknown {
  NativeProgram* program;
  size_t look_at = kLeastPairs;  // rounds
  size_t rounds = 0;
};

/// Whether nothing more is to be measured of it.
bool is_settled(const ScanSetting& setting, Unknown& unknown) {
  if (!unknown.program->failure.empty()) return true;
  if (unknown.rounds >= kMostPairs) return true;
  if (unknown.rounds < unknown.look_at) return false;
  unknown.look_at = next_look(unknown.rounds);
  return is_known(setting, *unknown.program);
}

/// A pair of runs of a program that counts a set.
Result<void> add_pair(const ScanSetting& setting, const EventSet& set, NativeProgram& program,
                      const CheckStop& check) {
  const uint64_t least_runs = program.timing.least_runs;
  const uint64_t most_runs = program.timing.most_runs;
  ASSIGN_OR_RETURN(const NativeRun least,
                   run_natively(setting, program.command, least_runs, set, check));
  ASSIGN_OR_RETURN(const NativeRun most,
                   run_natively(setting, program.command, most_runs, set, check));
  program.timing.pairs.push_back({least.cpu_ns, most.cpu_ns});
  for (size_t i = 0; i < set.size(); ++i) {
    PairedCounts& counts = program.counts[set[i]];
    counts.least_runs = least_runs;
    counts.most_runs = most_runs;
    if (least.counts[i] && most.counts[i]) {
      counts.pairs.push_back({*least.counts[i], *most.counts[i]});
    }
  }
  return {};
}

}  // namespace

Result<NativeRun> run_natively(const ScanSetting& setting, const std::vector<std::string>& words,
                               uint64_t runs, const EventSet& set, const CheckStop& check_stop) {
  ASSIGN_OR_RETURN(const std::vector<std::string> command, fill_words(words, std::to_string(runs)));
  const FolderGuard folder(setting.folder);
  ASSIGN_OR_RETURN(const Redirected redirected, Redirected::make("/dev/null"));
  ASSIGN_OR_RETURN(StartedCommand running,
                   set.empty() ? StartedCommand::start(command) : StartedCommand::hold(command));
  std::optional<CounterSet> counters;
  if (!set.empty()) {
    ASSIGN_OR_RETURN(counters, open_counters(setting.counted_events, set, running.pid(), true));
    RETURN_IF_ERROR(running.let_go(0));
  }
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
  NativeRun run{compute_cpu_ns(running.usage())};
  if (counters) run.counts = read_counts(setting.counted_events, set, *counters);
  return run;
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

bool is_known(const ScanSetting& setting, const NativeProgram& program) {
  const double percent = setting.plan.native_percent();
  if (setting.plan.time_percent > 0) {
    const auto time = estimate_cost(program.timing, program.iterations_per_run);
    if (!time || 100 * relative_half_width(*time) > percent) return false;
  }
  return std::all_of(program.counts.begin(), program.counts.end(), [&](const PairedCounts& counts) {
    const auto count = estimate_cost(counts, program.iterations_per_run);
    return count && is_within(*count, percent);
  });
}

Result<void> measure_natively(const ScanSetting& setting, std::vector<NativeProgram>& programs,
                              const CheckStop& check_stop) {
  std::optional<Error> stopped;
  const CheckStop check = [&]() -> Result<void> {
    const Result<void> goes_on = check_stop();
    if (!goes_on) stopped = goes_on.error();
    return goes_on;
  };
  std::vector<Unknown> unknown;
  for (NativeProgram& program : programs) {
    program.counts.resize(setting.counted_events.size());
    const std::vector<uint64_t>& counted = setting.plan.runs;
    const uint64_t least = counted.empty() ? kUsualRuns.front() : counted.back();
    const Result<uint64_t> most = choose_timed_runs(least, [&](uint64_t runs) -> Result<uint64_t> {
      ASSIGN_OR_RETURN(const NativeRun run,
                       run_natively(setting, program.command, runs, {}, check));
      return run.cpu_ns;
    });
    if (stopped) return *stopped;
    if (most) {
      program.timing.most_runs = *most;
      program.timing.least_runs = find_least_runs(*most);
    } else {
      program.failure = most.error().message;
    }
    unknown.push_back({&program});
  }
  while (!unknown.empty()) {
    for (Unknown& one : unknown) {
      for (const EventSet& set : setting.event_sets) {
        if (!one.program->failure.empty()) break;
        const Result<void> added = add_pair(setting, set, *one.program, check);
        if (stopped) return *stopped;
        if (!added) one.program->failure = added.error().message;
      }
      ++one.rounds;
    }
    std::erase_if(unknown, [&](Unknown& one) { return is_settled(setting, one); });
  }
  return {};
}

}  // namespace culprit::scan
