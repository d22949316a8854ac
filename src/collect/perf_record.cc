#include "collect/perf_record.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <span>

#include "base/number.h"
#include "base/text.h"
#include "base/time.h"
#include "collect/drain_rings.h"
#include "collect/perf/describe_event.h"
#include "collect/perf/idle_time.h"
#include "collect/perf/perf_events.h"
#include "collect/perf/perf_targets.h"
#include "collect/perf/reader_priority.h"
#include "collect/perf_losses.h"
#include "collect/stream/process_stream.h"
#include "collect/stream/sampled_run.h"
#include "host/describe_machine.h"
#include "recording/describe_run.h"
#include "recording/run_loop.h"

namespace culprit {

namespace {

constexpr uint64_t kReadEveryNs = 200'000'000;
constexpr uint64_t kKeepRegionsNs = 5 * kRingDisorderNs;
// The wrapper of a system call, and the functions that lead to it.
constexpr uint32_t kKernelStackCopyBytes = 1024;
constexpr uint64_t kLeastPeriodWithCopiesNs = 200'000;
// The outer frames of waits come from frame pointers, where there are some.
constexpr uint32_t kWaitStackCopyBytes = 4096;

size_t read_frames_limit() {
  std::string text = read_file("/proc/sys/kernel/perf_event_max_stack").value_or("");
  if (text.ends_with('\n')) text.pop_back();
  return find_number(text, 10).value_or(PERF_MAX_STACK_DEPTH);
}

/// Whether the kernel's own events have a period that it would not keep if samples said it.
bool has_periods_to_keep(const std::vector<SampledGroup>& groups) {
  bool has_any = false;
  for (const SampledGroup& group : groups) {
    for (const SampledEvent& event : group) {
      if (event.period == 0) return false;
      const bool is_counted_by_kernel =
          event.request.type == PERF_TYPE_SOFTWARE && !is_clock(event.request);
      has_any = has_any || (is_counted_by_kernel && event.period > 1);
    }
  }
  return has_any;
}

/// One recording, from before the start of its command to after its end.
class PerfRecorder final : public RunSource {
 public:
  PerfRecorder(const RecordOptions& options, const RecordSink& sink, const ProgressSink& progress)
      : options_(options), sink_(sink), progress_(progress) {}

  Result<Recording> run(std::optional<std::string>& refusal);

  void begin() override;
  void take(uint64_t now_ns) override;
  [[nodiscard]] uint64_t next_take_ns(uint64_t now_ns) const override {
    return now_ns + (options_.regions == nullptr ? kReadEveryNs : kTakeRegionsEveryNs);
  }
  [[nodiscard]] std::span<const int> descriptors() const override { return events_->wakeups(); }
  Result<void> flush(uint64_t since_start_ns) override {
    return sampled_->flush(since_start_ns, processor_->lost());
  }
  Result<void> end_epoch(uint64_t since_start_ns) override;
  void end() override;

 private:
  Result<void> prepare(std::optional<std::string>& refusal);
  Result<void> open_events(std::optional<std::string>& refusal);
  [[nodiscard]] std::vector<SampledGroup> list_events(bool user_only) const;
  bool try_events(bool per_cpu, bool user_only, OpenFailure& failure);
  void describe_profile();
  Run describe_next_run();
  void describe_events();
  void add_totals(Profile& profile, RunId run);
  void note_shared_counters(Profile& profile) const;
  void remark_inexact();
  [[nodiscard]] bool samples_time() const { return options_.groups.empty(); }
  [[nodiscard]] bool records_kernel_stacks() const;
  [[nodiscard]] bool adds_copies_to_waits() const;
  [[nodiscard]] uint32_t stack_copy_bytes() const;
  Result<void> follow_targets();
  void drain(uint64_t before_ns) { drain_rings(*events_, before_ns, *processor_); }
  Recording complete(const RunEnd& end);

  [[nodiscard]] bool records_all() const {
    return options_.system_wide || !options_.cgroup.empty();
  }

  const RecordOptions& options_;
  const RecordSink& sink_;
  const ProgressSink& progress_;
  RunTargets targets_;
  std::optional<Cgroup> cgroup_;
  ReaderPriority priority_;
  std::optional<PerfEvents> events_;
  std::optional<SampleProcessor> processor_;
  std::optional<SampledRun> sampled_;
  std::vector<std::string> remarks_;
  PerfLosses losses_;
  std::optional<IdleWatch> idle_;  // of whole CPUs
  std::optional<IdleTime> idle_time_;
  std::vector<EventTotal> totals_before_;  // of the epochs that are over
};

Result<Recording> PerfRecorder::run(std::optional<std::string>& refusal) {
  RETURN_IF_ERROR(prepare(refusal));
  describe_profile();
  RETURN_IF_ERROR(follow_targets());
  sampled_->measure_clock();
  // Where the clock of the event runs with its task alone, the task makes the phase random.
  const bool spins = samples_time() && !losses_.is_per_cpu;
  ASSIGN_OR_RETURN(const RunEnd end, run_loop(*this, targets_,
                                              {.delay_ns = options_.delay_ns,
                                               .duration_ns = options_.duration_ns,
                                               .flush_every_ns = options_.flush_every_ns,
                                               .spin_below_ns = spins ? options_.period_ns : 0,
                                               .control = options_.control}));
  RETURN_IF_ERROR(end.flushed);
  return complete(end);
}

Result<void> PerfRecorder::prepare(std::optional<std::string>& refusal) {
  if (!options_.cgroup.empty()) {
    ASSIGN_OR_RETURN(cgroup_, open_cgroup(options_.cgroup));
  }
  RETURN_IF_ERROR(targets_.prepare({options_.command, options_.pids}));
  priority_.raise();
  return open_events(refusal);
}

/// What to sample: the events asked for, or time; switches come last.
std::vector<SampledGroup> PerfRecorder::list_events(bool user_only) const {
  std::vector<SampledGroup> groups;
  if (options_.groups.empty()) {
    groups.push_back({make_clock_event(options_.period_ns, user_only, options_.kernel_only)});
  }
  for (const EventGroup& group : options_.groups) {
    groups.emplace_back();
    for (const EventRequest& request : group.members) {
      SampledEvent event{request, request.period.value_or(options_.event_period),
                         request.frequency_hz.value_or(options_.event_frequency_hz)};
      if (request.frequency_hz) event.period = 0;
      if (user_only) event.request.exclude_kernel = event.request.exclude_hypervisor = true;
      groups.back().push_back(std::move(event));
    }
  }
  if (options_.off_cpu) groups.push_back({make_switch_event()});
  return groups;
}

/// What the kernel was asked to do, and by whom, of one's own processes. A whole machine's kernel
/// works for too many.
bool PerfRecorder::records_kernel_stacks() const {
  return samples_time() && !options_.stacks && !options_.off_cpu && !options_.user_only &&
         !records_all();
}

/// Waits are in libc's wrappers of system calls, which have no frame pointers: by those alone their
/// callers are left out of the stacks.
bool PerfRecorder::adds_copies_to_waits() const {
  return options_.off_cpu && options_.stack_copy_bytes == 0 && options_.make_unwinder &&
         find_unwind_registers() != 0;
}

uint32_t PerfRecorder::stack_copy_bytes() const {
  if (adds_copies_to_waits()) return kWaitStackCopyBytes;
  const bool copies_little = records_kernel_stacks() && options_.make_unwinder &&
                             find_unwind_registers() != 0 &&
                             options_.period_ns >= kLeastPeriodWithCopiesNs;
  return copies_little ? kKernelStackCopyBytes : options_.stack_copy_bytes;
}

bool PerfRecorder::try_events(bool per_cpu, bool user_only, OpenFailure& failure) {
  EventTargets targets;
  const StartedCommand* const command = records_all() ? nullptr : targets_.command();
  targets.cpus = !options_.cpus.empty()          ? options_.cpus
                 : command != nullptr && per_cpu ? list_allowed_cpus()
                                                 : list_online_cpus();
  targets.per_cpu = per_cpu;
  targets.cgroup = cgroup_ ? cgroup_->fd.get() : -1;
  targets.delayed = options_.delay_ns != 0;
  if (command != nullptr) targets.tids.push_back(command->pid());
  for (const pid_t pid : with_descendants(options_.pids)) {
    const std::vector<pid_t> tids = list_threads(pid);
    targets.tids.insert(targets.tids.end(), tids.begin(), tids.end());
  }
  SamplingSetup setup;
  setup.stacks = options_.stacks || options_.off_cpu;
  setup.switches = options_.off_cpu;
  setup.kernel_stacks = records_kernel_stacks();
  setup.user_chains = adds_copies_to_waits();
  setup.stack_copy_bytes = stack_copy_bytes();
  setup.branches = options_.branches;
  setup.memory = options_.memory;
  const std::vector<SampledGroup> groups = list_events(user_only);
  setup.fixed_periods = has_periods_to_keep(groups);
  events_ = PerfEvents::open(targets, setup, groups, failure);
  losses_.is_per_cpu = per_cpu;
  losses_.kernel_barred = user_only && !options_.user_only;
  return events_.has_value();
}

/// The best that is permitted: whole CPUs, else tasks, else tasks without the kernel.
Result<void> PerfRecorder::open_events(std::optional<std::string>& refusal) {
  const auto is_permission = [](int error) { return error == EACCES || error == EPERM; };
  OpenFailure failure;
  if (options_.sampling != Sampling::per_task || records_all()) {
    if (try_events(true, options_.user_only, failure)) return {};
    const bool may_use_tasks = options_.sampling == Sampling::automatic && !records_all();
    if (!may_use_tasks || !is_permission(failure.error_number)) {
      if (failure.error_number == ENOSYS) refusal = failure.error.message;
      return failure.error;
    }
    remarks_.emplace_back(
        "sampling task by task (whole CPUs need root or perf_event_paranoid <= 0): "
        "short-lived processes get too few samples");
  }
  if (try_events(false, options_.user_only, failure)) return {};
  const bool can_do_without_kernel =
      !options_.user_only && !options_.kernel_only && !options_.off_cpu;
  if (is_permission(failure.error_number) && can_do_without_kernel) {
    if (try_events(false, true, failure)) {
      remarks_.emplace_back("kernel code is not sampled (perf_event_paranoid)");
      return {};
    }
  }
  if (is_permission(failure.error_number) || failure.error_number == ENOSYS) {
    refusal = failure.error.message;
  }
  return failure.error;
}

void PerfRecorder::describe_profile() {
  ProcessorOptions processing;
  processing.all_processes = records_all();
  processing.stacks = options_.stacks || options_.off_cpu;
  processing.kernel_stacks = records_kernel_stacks();
  processing.frames_limit = processing.stacks ? read_frames_limit() : 0;
  processing.event_of_id = events_->event_of_id();
  processing.layout = events_->layout();
  for (const SampledGroup& group : list_events(false)) {
    for (const SampledEvent& event : group) processing.periods.push_back(event.period);
  }
  processing.regions = options_.regions;
  if (options_.off_cpu) {
    size_t events = 0;
    for (const SampledGroup& group : list_events(false)) events += group.size();
    processing.off_cpu = OffCpuEvents{EventId(events - 1), EventId(events)};
  }
  if (stack_copy_bytes() != 0) processing.make_unwinder = options_.make_unwinder;
  processing.read_data = options_.read_data;
  processor_.emplace(processing);
  sampled_.emplace(*processor_, sink_, progress_);
  ProfileBuilder& builder = processor_->builder();
  Profile& profile = builder.profile();
  profile.machine = describe_machine();
  profile.environment["sampling"] = losses_.is_per_cpu ? "per-cpu" : "per-task";

  builder.begin_run(describe_next_run());

  describe_events();
}

Run PerfRecorder::describe_next_run() {
  return describe_run(
      processor_->builder(),
      describe_targets(options_.command, options_.pids, options_.cgroup, options_.system_wide));
}

void PerfRecorder::describe_events() {
  ProfileBuilder& builder = processor_->builder();
  const bool user_only = options_.user_only || losses_.kernel_barred;
  std::vector<SampledGroup> groups = list_events(user_only);
  if (options_.off_cpu) groups.pop_back();
  for (const SampledGroup& group : groups) {
    for (const SampledEvent& sampled : group) {
      Event event = describe_event(builder, sampled);
      if (samples_time()) {
        event.name = builder.intern("cpu-clock");
        event.scale = 1 - options_.sample_cost_ns / static_cast<double>(options_.period_ns);
      }
      builder.profile().events.push_back(event);
    }
  }
  if (options_.off_cpu) add_off_cpu_events(builder);
  for (const std::string& remark : events_->remarks()) remarks_.push_back(remark);
}

Result<void> PerfRecorder::follow_targets() {
  events_->start_sideband();
  if (options_.system_wide) processor_->follow_all_running();
  if (cgroup_) {
    for (const pid_t pid : list_cgroup_processes(*cgroup_)) processor_->follow_running(pid);
  }
  // Their children are followed as long as they run, but nobody waits for the end of those.
  for (const pid_t pid : with_descendants(options_.pids)) {
    const bool is_named =
        std::find(options_.pids.begin(), options_.pids.end(), pid) != options_.pids.end();
    if (!processor_->follow_running(pid) && is_named) {
      return Error{fmt::format("cannot record process {}: there is no such process", pid)};
    }
  }
  if (targets_.command() != nullptr) processor_->follow_command(targets_.command()->pid());
  return {};
}

void PerfRecorder::begin() {
  events_->start_sampling();
  sampled_->begin(options_.delay_ns);
  if (options_.system_wide) idle_.emplace(options_.cpus);
}

void PerfRecorder::take(uint64_t now_ns) {
  if (options_.regions != nullptr) options_.regions->take();
  drain(now_ns - kRingDisorderNs);
  if (options_.regions != nullptr) options_.regions->forget_before(now_ns - kKeepRegionsNs);
}

Result<void> PerfRecorder::end_epoch(uint64_t since_start_ns) {
  ProfileBuilder& builder = processor_->builder();
  add_totals(builder.profile(), builder.run_id());
  return sampled_->end_epoch(since_start_ns, processor_->lost(), describe_next_run());
}

void PerfRecorder::end() {
  if (idle_) idle_time_ = idle_->measure();
  events_->stop();
  if (options_.regions != nullptr) options_.regions->take();
  drain(UINT64_MAX);
  processor_->end_waits(monotonic_ns());
}

/// Some PMUs (Arm's) take a wish for precision and do nothing about it: the samples tell.
void PerfRecorder::remark_inexact() {
  size_t event = 0;
  for (const EventGroup& group : options_.groups) {
    for (const EventRequest& request : group.members) {
      const auto inexact = processor_->inexact().find(event++);
      if (request.precise_level < 2 || inexact == processor_->inexact().end()) continue;
      remarks_.push_back(fmt::format(
          "{}: {} samples are not exact, though precise level {} was asked for: they may lie "
          "some instructions late",
          request.name, inexact->second, request.precise_level));
    }
  }
}

Recording PerfRecorder::complete(const RunEnd& end) {
  remark_inexact();
  Recording recording = sampled_->finish(end);
  Profile& profile = recording.profile;
  if (idle_time_) add_idle_time(profile, *idle_time_);
  if (options_.off_cpu && options_.command.empty()) {
    profile.ledger.note("waits that had begun before the recording are not covered");
  }
  recording.engine = samples_time() ? EngineChoice::timer : EngineChoice::pmu;
  // What is missing must be told by every report, not by this terminal alone.
  for (const std::string& remark : remarks_) profile.ledger.note(remark);
  recording.remarks = std::move(remarks_);
  losses_.period_ns = options_.period_ns;
  losses_.sample_cost_ns = options_.sample_cost_ns;
  losses_.covers_all =
      !end.is_cut_short && samples_time() && options_.delay_ns == 0 && !options_.kernel_only;
  losses_.user_only = options_.user_only || losses_.kernel_barred;
  losses_.usage = end.usage;
  add_totals(profile, recording.run_id());
  note_shared_counters(profile);
  add_losses(losses_, records_all(), events_->read_lost_samples(), recording);
  if (options_.stack_copy_bytes != 0 && recording.lost != 0) {
    profile.ledger.note(
        "samples with stack copies are large: fewer are lost with a lower -F, a smaller "
        "--call-graph dwarf,BYTES, or a higher kernel.perf_event_mlock_kb");
  }
  return recording;
}

/// What each event counted since the last epoch ended, where that is of what was recorded alone and
/// not of whole CPUs.
void PerfRecorder::add_totals(Profile& profile, RunId run) {
  if (samples_time() || (losses_.is_per_cpu && !records_all())) return;
  std::vector<EventTotal> totals = events_->read_totals();
  if (options_.off_cpu) totals.pop_back();  // switches, not their time
  totals_before_.resize(totals.size());
  Context whole_run;
  whole_run.run = run;
  const ContextId context(profile.contexts.size());
  profile.contexts.push_back(whole_run);
  for (size_t event = 0; event < totals.size(); ++event) {
    const EventTotal& total = totals[event];
    const EventTotal& before = totals_before_[event];
    if (total.value < before.value) continue;  // it could not be read
    profile.counts.push_back({context, EventId(event), 0, 0, total.value - before.value,
                              total.enabled_ns - before.enabled_ns,
                              total.running_ns - before.running_ns});
  }
  totals_before_ = std::move(totals);
}

/// Events that shared their counters, in the ledger.
void PerfRecorder::note_shared_counters(Profile& profile) const {
  if (samples_time()) return;
  std::vector<EventTotal> totals = events_->read_totals();
  if (options_.off_cpu) totals.pop_back();
  for (size_t event = 0; event < totals.size(); ++event) {
    const EventTotal& total = totals[event];
    if (total.enabled_ns == 0 || total.running_ns >= total.enabled_ns) continue;
    const double percent =
        100 * static_cast<double>(total.running_ns) / static_cast<double>(total.enabled_ns);
    profile.ledger.note(
        fmt::format("{}: shared its counter; sampled {:.1f} % of the time, the rest is missing",
                    profile.strings.text(profile.events[event].name), percent));
  }
}

}  // namespace

Result<Recording> record_with_perf(const RecordOptions& options, const RecordSink& sink,
                                   const ProgressSink& progress,
                                   std::optional<std::string>& refusal) {
  return PerfRecorder(options, sink, progress).run(refusal);
}

}  // namespace culprit
