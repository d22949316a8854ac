#include "collect/timer/posix_timer.h"

#include <string>

#include "base/text.h"
#include "base/time.h"
#include "collect/stream/sampled_run.h"
#include "collect/timer/posix_timer_check.h"
#include "collect/timer/posix_timer_profile.h"
#include "collect/timer/posix_timer_rings.h"
#include "collect/timer/shim_environment.h"
#include "host/describe_machine.h"
#include "recording/describe_run.h"
#include "recording/run_loop.h"

namespace culprit {
namespace {

constexpr uint64_t kReadEveryNs = 100'000'000;
// Samples come out one reading late; a thread's clock and its record lie close together.
constexpr uint64_t kKeepRegionsNs = 1'000'000'000;

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
class TimerRecorder final : public RunSource {
 public:
  TimerRecorder(const TimerOptions& options, const RecordSink& sink, const ProgressSink& progress,
                TimerRings& rings)
      : options_(options),
        rings_(rings),
        profile_(options),
        sampled_(profile_.processor(), sink, progress) {}

  Result<Recording> run(const std::string& reason);

  void begin() override {
    profile_.begin(monotonic_ns());
    sampled_.begin(options_.delay_ns);
  }
  void take(uint64_t now_ns) override {
    if (options_.regions != nullptr) {
      options_.regions->take();
      if (now_ns < next_read_ns_) return;
      next_read_ns_ = now_ns + kReadEveryNs;
    }
    add(rings_.read(now_ns));
    if (options_.regions != nullptr) options_.regions->forget_before(now_ns - kKeepRegionsNs);
  }
  [[nodiscard]] uint64_t next_take_ns(uint64_t now_ns) const override {
    return now_ns + (options_.regions == nullptr ? kReadEveryNs : kTakeRegionsEveryNs);
  }
  Result<void> flush(uint64_t since_start_ns) override {
    return sampled_.flush(since_start_ns, rings_.totals().lost_samples);
  }
  Result<void> end_epoch(uint64_t since_start_ns) override {
    return sampled_.end_epoch(since_start_ns, rings_.totals().lost_samples, describe_next_run());
  }
  /// The source's threads stop, those of children that live on, too; what they wrote is read later.
  void end() override { rings_.stop(); }

 private:
  void describe_profile();
  Run describe_next_run() {
    return describe_run(profile_.builder(), describe_targets(options_.command, {}, "", false));
  }
  void add(const std::vector<TimerRecord>& records);
  Recording complete(const RunEnd& end, const std::string& reason);
  void add_losses(const TimerTotals& totals, const RunEnd& end);

  const TimerOptions& options_;
  TimerRings& rings_;
  TimerProfile profile_;
  SampledRun sampled_;
  RunTargets targets_;
  uint64_t next_read_ns_ = 0;  // of the rings, where regions are taken more often
};

Result<Recording> TimerRecorder::run(const std::string& reason) {
  sampled_.measure_clock();
  describe_profile();
  const std::vector<std::string> environment = make_shim_environment(
      {options_.shim_path, rings_.folder(), options_.period_ns, options_.stacks});
  RETURN_IF_ERROR(targets_.prepare({options_.command, {}, &environment}));
  const pid_t command = targets_.command()->pid();
  rings_.expect(command);
  profile_.follow(command);
  ASSIGN_OR_RETURN(const RunEnd end, run_loop(*this, targets_,
                                              {.delay_ns = options_.delay_ns,
                                               .duration_ns = options_.duration_ns,
                                               .flush_every_ns = options_.flush_every_ns,
                                               .control = options_.control}));
  RETURN_IF_ERROR(end.flushed);
  if (options_.regions != nullptr) options_.regions->take();
  add(rings_.read_rest());
  return complete(end, reason);
}

void TimerRecorder::add(const std::vector<TimerRecord>& records) {
  for (const TimerRecord& record : records) profile_.take(record);
}

void TimerRecorder::describe_profile() {
  ProfileBuilder& builder = profile_.builder();
  builder.profile().machine = describe_machine();
  builder.begin_run(describe_next_run());
}

/// What the numbers lack: known amounts first, then what no amount can say.
void TimerRecorder::add_losses(const TimerTotals& totals, const RunEnd& end) {
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
  const uint64_t cpu_ns = end.usage ? compute_cpu_ns(*end.usage) : 0;
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

Recording TimerRecorder::complete(const RunEnd& end, const std::string& reason) {
  const TimerTotals totals = rings_.totals();
  add_losses(totals, end);
  Recording recording = sampled_.finish(end);
  recording.lost = totals.lost_samples;
  recording.engine = EngineChoice::posix_timer;
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
  return TimerRecorder(options, sink, progress, rings).run(reason);
}

}  // namespace culprit
