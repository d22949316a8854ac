#include "collect/timer/posix_timer.h"

#include <algorithm>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"
#include "base/time.h"
#include "collect/timer/posix_timer_check.h"
#include "collect/timer/posix_timer_profile.h"
#include "collect/timer/posix_timer_rings.h"
#include "collect/timer/shim_environment.h"
#include "host/clock.h"
#include "host/describe_machine.h"
#include "recording/describe_run.h"
#include "recording/descriptor_limit.h"
#include "recording/signals.h"
#include "recording/started_command.h"

namespace culprit {
namespace {

constexpr int kReadEveryMs = 100;

Result<void> check_command(const std::vector<std::string>& command, const std::string& reason) {
  if (const Result<void> loads = check_preloadable(command); !loads) {
    std::string text = loads.error().message;
    if (!reason.empty()) text += "; and " + reason;
    return Error{text + "\nculprit doctor says how to get perf_event_open permitted, which can"};
  }
  return {};
}

Result<void> check_shim(const std::string& path) {
  if (path.empty() || !file_exists(path)) {
    return Error{"cannot find libculprit_timer.so" + (path.empty() ? "" : " at '" + path + "'") +
                 ": keep it beside culprit"};
  }
  if (path.find_first_of(" :") != std::string::npos) {
    return Error{"cannot preload '" + path +
                 "': the dynamic linker takes no spaces or colons in such a path"};
  }
  return {};
}

/// One recording, from the start of the command to its end.
class TimerSession {
 public:
  TimerSession(const TimerOptions& options, const RecordSink& sink, const ProgressSink& progress,
               TimerRings& rings)
      : options_(options), sink_(sink), progress_(progress), rings_(rings), profile_(options) {}

  Result<Recording> run(const std::string& reason);

 private:
  Result<void> watch(StartedCommand& command);
  void describe_profile();
  void take(const std::vector<TimerRecord>& records);
  Result<void> flush(uint64_t now_ns);
  Recording complete(const StartedCommand& command, const std::string& reason);
  void add_losses(const TimerTotals& totals, const StartedCommand& command);

  const TimerOptions& options_;
  const RecordSink& sink_;
  const ProgressSink& progress_;
  TimerRings& rings_;
  TimerProfile profile_;
  std::vector<double> bursts_hertz_;
  uint64_t start_ns_ = 0;
  uint64_t flushed_ns_ = 0;
};

Result<Recording> TimerSession::run(const std::string& reason) {
  bursts_hertz_.push_back(measure_clock_burst());
  describe_profile();
  SignalGuard signals;
  start_ns_ = flushed_ns_ = monotonic_ns();
  ASSIGN_OR_RETURN(
      StartedCommand command,
      StartedCommand::start(options_.command,
                            make_shim_environment({options_.shim_path, rings_.folder(),
                                                   options_.period_ns, options_.stacks})));
  signals.follow_command(command.pid());
  rings_.expect(command.pid());
  profile_.begin(command.pid(), start_ns_ + options_.delay_ns);
  DescriptorLimit limit;
  limit.raise();
  const Result<void> watched = watch(command);
  take(rings_.read_rest());
  bursts_hertz_.push_back(measure_clock_burst());
  if (!watched) return watched.error();
  return complete(command, reason);
}

/// Until the command ends, or a second Ctrl-C. After `duration`, or when what was recorded
/// cannot be written, it runs on, unsampled.
Result<void> TimerSession::watch(StartedCommand& command) {
  Result<void> flushed;
  bool is_sampling = true;
  while (!command.wait(kReadEveryMs) && SignalGuard::interruptions() < 2) {
    if (!is_sampling) continue;
    const uint64_t now_ns = monotonic_ns();
    take(rings_.read(now_ns));
    if (now_ns - flushed_ns_ >= kFlushEveryNs) flushed = flush(now_ns);
    const bool is_over = options_.duration_ns && now_ns - start_ns_ >= *options_.duration_ns;
    if (is_over || !flushed) {
      rings_.stop();
      is_sampling = false;
    }
  }
  rings_.stop();  // for children that live on
  return flushed;
}

void TimerSession::take(const std::vector<TimerRecord>& records) {
  for (const TimerRecord& record : records) profile_.take(record);
}

Result<void> TimerSession::flush(uint64_t now_ns) {
  bursts_hertz_.push_back(measure_clock_burst());
  flushed_ns_ = now_ns;
  Profile& profile = profile_.builder().profile();
  profile.machine.clock = estimate_clock(bursts_hertz_);
  profile_.builder().run().duration_ns = static_cast<int64_t>(now_ns - start_ns_);
  RETURN_IF_ERROR(profile_.flush(sink_));
  if (progress_) {
    progress_({static_cast<double>(now_ns - start_ns_) * 1e-9, profile_.samples(),
               rings_.totals().lost_samples});
  }
  return {};
}

void TimerSession::describe_profile() {
  ProfileBuilder& builder = profile_.builder();
  builder.profile().machine = describe_machine();
  builder.begin_run(describe_run(builder, describe_targets(options_.command, {}, "", false)));
}

/// What the numbers lack: known amounts first, then what no amount can say.
void TimerSession::add_losses(const TimerTotals& totals, const StartedCommand& command) {
  Ledger& ledger = profile_.builder().profile().ledger;
  const auto add = [&](const LedgerKind& kind, uint64_t amount) {
    if (amount > 0) ledger.add(kind, amount);
  };
  add(ledger::kLostSamples, totals.lost_samples);
  add(ledger::kLostRecords, totals.lost_records);
  add(ledger::kMergedTicks, totals.merged_samples);
  add(ledger::kTruncatedStacks, totals.cut_stacks);
  add(ledger::kDamagedRecords, totals.damaged);
  add(ledger::kKernelNotSampled, totals.kernel_ns);
  const uint64_t cpu_ns = compute_cpu_ns(command.usage());
  const uint64_t known_ns = profile_.seen_ns() + totals.kernel_ns;
  // Below 1 % it is the end of the last tick of each thread; more is that of threads
  // which ticks seldom found running, or of programs that were not followed.
  if (!options_.duration_ns && cpu_ns > known_ns + cpu_ns / 100) {
    add(ledger::kUnsampledTime, cpu_ns - known_ns);
  }
  ledger.note(
      "sampled by timers inside the program: no kernel code; page faults count where they "
      "happen");
  if (totals.sandboxed > 0) {
    ledger.note(std::to_string(totals.sandboxed) +
                " threads entered seccomp's strict mode and were not sampled from there on");
  }
  if (totals.unfollowed > 0) {
    ledger.note(std::to_string(totals.unfollowed) +
                " programs were started with a cleared environment and not followed");
  }
  if (totals.without_timer > 0) {
    ledger.note(errno_error(std::to_string(totals.without_timer) + " threads had no timer",
                            totals.timer_errno)
                    .message);
  }
}

Recording TimerSession::complete(const StartedCommand& command, const std::string& reason) {
  const TimerTotals totals = rings_.totals();
  add_losses(totals, command);
  Recording recording = profile_.finish();
  recording.profile.machine.clock = estimate_clock(bursts_hertz_);
  Run& run = recording.run();
  run.duration_ns = static_cast<int64_t>(monotonic_ns() - start_ns_);
  run.wait_status = command.wait_status();
  run.cpu_time_ns = static_cast<int64_t>(compute_cpu_ns(command.usage()));
  recording.lost = totals.lost_samples;
  recording.engine = EngineChoice::posix_timer;
  recording.command_wait_status = command.wait_status();
  recording.command_started = true;
  recording.remarks.push_back((reason.empty() ? std::string() : reason + "; ") +
                              "sampled by timers inside the program instead: its own code only, "
                              "without the kernel and other processes");
  if (totals.rings == 0) {
    recording.remarks.push_back("the sampling library was not loaded: nothing was recorded");
  }
  return recording;
}

}  // namespace

Result<Recording> record_with_posix_timer(const TimerOptions& options, const RecordSink& sink,
                                          const ProgressSink& progress, const std::string& reason) {
  RETURN_IF_ERROR(check_command(options.command, reason));
  RETURN_IF_ERROR(check_shim(options.shim_path));
  ASSIGN_OR_RETURN(TimerRings rings, TimerRings::make(options.stacks));
  return TimerSession(options, sink, progress, rings).run(reason);
}

}  // namespace culprit
