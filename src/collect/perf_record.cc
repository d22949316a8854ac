#include "collect/perf_record.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "base/text.h"
#include "base/time.h"
#include "collect/perf/idle_time.h"
#include "collect/perf/perf_events.h"
#include "collect/perf/perf_targets.h"
#include "collect/perf/reader_priority.h"
#include "collect/perf_losses.h"
#include "collect/stream/process_stream.h"
#include "host/clock.h"
#include "host/describe_machine.h"
#include "model/engine.h"
#include "model/event_names.h"
#include "recording/describe_run.h"
#include "recording/descriptor_limit.h"
#include "recording/signals.h"
#include "recording/started_command.h"
#include "records/parse_record.h"

namespace culprit {

namespace {

constexpr uint64_t kReadEveryNs = 200'000'000;
// A record may become visible later than one that was made after it on another CPU.
constexpr uint64_t kDisorderNs = 20'000'000;

size_t read_frames_limit() {
  std::string text = read_file("/proc/sys/kernel/perf_event_max_stack").value_or("");
  if (text.ends_with('\n')) text.pop_back();
  return find_number(text, 10).value_or(PERF_MAX_STACK_DEPTH);
}

/// One recording, from before the start of its command to after its end.
class PerfSession {
 public:
  PerfSession(const RecordOptions& options, const RecordSink& sink, const ProgressSink& progress)
      : options_(options), sink_(sink), progress_(progress) {}

  Result<Recording> run(std::optional<std::string>& refusal);

 private:
  Result<void> prepare(std::optional<std::string>& refusal);
  Result<void> open_events(std::optional<std::string>& refusal);
  [[nodiscard]] std::vector<SampledGroup> list_events(bool user_only) const;
  bool try_events(bool per_cpu, bool user_only, OpenFailure& failure);
  void describe_profile();
  void describe_events();
  void add_totals(Profile& profile, RunId run) const;
  void remark_inexact();
  [[nodiscard]] bool samples_time() const { return options_.groups.empty(); }
  Result<void> follow_targets();
  Result<void> begin(SignalGuard& signals);
  Result<void> watch();
  void sleep_until_something(uint64_t now);
  bool is_over();
  void stop();
  void drain(uint64_t before_ns);
  Result<void> flush(uint64_t now);
  Recording complete();

  [[nodiscard]] bool records_all() const {
    return options_.system_wide || !options_.cgroup.empty();
  }

  const RecordOptions& options_;
  const RecordSink& sink_;
  const ProgressSink& progress_;
  std::optional<StartedCommand> command_;
  std::optional<Cgroup> cgroup_;
  DescriptorLimit limit_;
  ReaderPriority priority_;
  std::optional<PerfEvents> events_;
  std::optional<SampleProcessor> processor_;
  struct Target {
    pid_t pid = 0;
    Fd end;  // readable when it has ended
  };
  std::vector<Target> targets_;  // processes that run yet
  std::vector<pollfd> polled_;
  std::vector<double> bursts_hertz_;
  std::vector<std::string> remarks_;
  PerfLosses losses_;
  uint64_t start_ns_ = 0;
  std::optional<IdleWatch> idle_;  // of whole CPUs
  uint64_t stop_ns_ = 0;
  std::optional<IdleTime> idle_time_;
  uint64_t flushed_ns_ = 0;
  uint64_t read_ns_ = 0;
  bool clock_runs_ = false;
};

Result<Recording> PerfSession::run(std::optional<std::string>& refusal) {
  RETURN_IF_ERROR(prepare(refusal));
  SignalGuard signals;
  describe_profile();
  RETURN_IF_ERROR(follow_targets());
  RETURN_IF_ERROR(begin(signals));
  const Result<void> watched = watch();
  if (!watched) return watched.error();
  return complete();
}

Result<void> PerfSession::prepare(std::optional<std::string>& refusal) {
  if (!options_.cgroup.empty()) {
    ASSIGN_OR_RETURN(cgroup_, open_cgroup(options_.cgroup));
  }
  if (!options_.command.empty()) {
    ASSIGN_OR_RETURN(command_, StartedCommand::hold(options_.command));
  }
  limit_.raise();
  priority_.raise();
  return open_events(refusal);
}

/// What to sample: the events asked for, or time.
std::vector<SampledGroup> PerfSession::list_events(bool user_only) const {
  if (options_.groups.empty()) {
    return {{make_clock_event(options_.period_ns, user_only, options_.kernel_only)}};
  }
  std::vector<SampledGroup> groups;
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
  return groups;
}

bool PerfSession::try_events(bool per_cpu, bool user_only, OpenFailure& failure) {
  EventTargets targets;
  const bool is_command_alone = command_ && !records_all();
  targets.cpus = !options_.cpus.empty()        ? options_.cpus
                 : is_command_alone && per_cpu ? list_allowed_cpus()
                                               : list_online_cpus();
  targets.per_cpu = per_cpu;
  targets.cgroup = cgroup_ ? cgroup_->fd.get() : -1;
  targets.delayed = options_.delay_ns != 0;
  if (is_command_alone) targets.tids.push_back(command_->pid());
  for (const pid_t pid : options_.pids) {
    const std::vector<pid_t> tids = list_threads(pid);
    targets.tids.insert(targets.tids.end(), tids.begin(), tids.end());
  }
  SamplingSetup setup;
  setup.stacks = options_.stacks;
  setup.stack_copy_bytes = options_.stack_copy_bytes;
  setup.branches = options_.branches;
  setup.memory = options_.memory;
  events_ = PerfEvents::open(targets, setup, list_events(user_only), failure);
  losses_.is_per_cpu = per_cpu;
  losses_.kernel_barred = user_only && !options_.user_only;
  return events_.has_value();
}

/// The best that is permitted: whole CPUs, else tasks, else tasks without the kernel.
Result<void> PerfSession::open_events(std::optional<std::string>& refusal) {
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
  if (is_permission(failure.error_number) && !options_.user_only && !options_.kernel_only) {
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

void PerfSession::describe_profile() {
  ProcessorOptions processing;
  processing.all_processes = records_all();
  processing.stacks = options_.stacks;
  processing.frames_limit = options_.stacks ? read_frames_limit() : 0;
  processing.event_of_id = events_->event_of_id();
  processing.layout = events_->layout();
  if (options_.stack_copy_bytes != 0) processing.make_unwinder = options_.make_unwinder;
  processor_.emplace(processing);
  ProfileBuilder& builder = processor_->builder();
  Profile& profile = builder.profile();
  profile.machine = describe_machine();
  profile.environment["sampling"] = losses_.is_per_cpu ? "per-cpu" : "per-task";

  builder.begin_run(describe_run(builder, describe_targets(options_.command, options_.pids,
                                                           options_.cgroup, options_.system_wide)));

  describe_events();
}

void PerfSession::describe_events() {
  ProfileBuilder& builder = processor_->builder();
  const bool user_only = options_.user_only || losses_.kernel_barred;
  for (const SampledGroup& group : list_events(user_only)) {
    for (const SampledEvent& sampled : group) {
      const EventRequest& request = sampled.request;
      Event event;
      event.name = builder.intern(samples_time() ? "cpu-clock" : request.name);
      event.unit = is_clock(request) ? Unit::ns : Unit::events;
      event.provenance = Provenance::sampled;
      event.engine = builder.intern(word_of(is_clock(request) ? Engine::timer : Engine::pmu));
      event.encoding =
          builder.intern(is_clock(request) ? request.name
                                           : format_event_code({request.type, request.config,
                                                                request.config1, request.config2}));
      event.period = sampled.period;
      builder.profile().events.push_back(event);
    }
  }
  for (const std::string& remark : events_->remarks()) remarks_.push_back(remark);
}

Result<void> PerfSession::follow_targets() {
  events_->start_sideband();
  if (options_.system_wide) processor_->follow_all_running();
  if (cgroup_) {
    for (const pid_t pid : list_cgroup_processes(*cgroup_)) processor_->follow_running(pid);
  }
  for (const pid_t pid : options_.pids) {
    if (!processor_->follow_running(pid)) {
      return Error{fmt::format("cannot record process {}: there is no such process", pid)};
    }
    targets_.push_back({pid, Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)))});
  }
  if (command_) processor_->follow_command(command_->pid());
  return {};
}

Result<void> PerfSession::begin(SignalGuard& signals) {
  for (const int fd : events_->wakeups()) polled_.push_back({fd, POLLIN, 0});
  for (const Target& target : targets_) polled_.push_back({target.end.get(), POLLIN, 0});
  if (command_) polled_.push_back({command_->end_descriptor(), POLLIN, 0});
  bursts_hertz_.push_back(measure_clock_burst());
  if (options_.delay_ns == 0) {
    events_->start_sampling();
    clock_runs_ = true;
  }
  start_ns_ = flushed_ns_ = read_ns_ = monotonic_ns();
  if (options_.system_wide) idle_.emplace(options_.cpus);
  if (!command_) return {};
  signals.follow_command(command_->pid());
  const bool spins = samples_time() && !losses_.is_per_cpu;
  return command_->let_go(spins ? start_ns_ % options_.period_ns : 0);
}

/// Until what is recorded has ended, the time is over, or somebody interrupts.
Result<void> PerfSession::watch() {
  Result<void> flushed;
  bool samples = true;
  while (true) {
    if (is_over()) break;
    const uint64_t now = monotonic_ns();
    if (!clock_runs_ && samples && now - start_ns_ >= options_.delay_ns) {
      events_->start_sampling();
      clock_runs_ = true;
    }
    if (samples) drain(now - kDisorderNs);
    if (samples && now - flushed_ns_ >= kFlushEveryNs) flushed = flush(now);
    const bool time_is_over = options_.duration_ns && now - start_ns_ >= *options_.duration_ns;
    if (samples && (time_is_over || !flushed)) {
      // The command goes on without us, but we stay to tell how it ends.
      stop();
      samples = false;
      losses_.covers_all = false;
      if (!command_) break;
    }
    sleep_until_something(now);
  }
  if (samples) stop();
  return flushed;
}

void PerfSession::stop() {
  stop_ns_ = monotonic_ns();
  if (idle_) idle_time_ = idle_->measure();
  events_->stop();
  drain(UINT64_MAX);
}

bool PerfSession::is_over() {
  const int interruptions = SignalGuard::interruptions();
  if (command_) return command_->has_ended() || interruptions > 1;
  if (interruptions > 0) return true;
  if (options_.pids.empty()) return false;
  std::erase_if(targets_, [](const Target& target) {
    pollfd end{target.end.get(), POLLIN, 0};
    if (target.end) return ::poll(&end, 1, 0) > 0;
    return ::kill(target.pid, 0) != 0 && errno == ESRCH;
  });
  return targets_.empty();
}

void PerfSession::sleep_until_something(uint64_t now) {
  uint64_t until_ns = now + kReadEveryNs;
  if (!clock_runs_) until_ns = std::min(until_ns, start_ns_ + options_.delay_ns);
  if (options_.duration_ns) until_ns = std::min(until_ns, start_ns_ + *options_.duration_ns);
  const uint64_t wait_ns = until_ns > now ? until_ns - now : kReadEveryNs;
  const timespec wait{static_cast<time_t>(wait_ns / 1'000'000'000),
                      static_cast<long>(wait_ns % 1'000'000'000)};
  if (::ppoll(polled_.data(), polled_.size(), &wait, nullptr) <= 0) return;
  const size_t rings = events_->wakeups().size();
  for (size_t i = 0; i < polled_.size(); ++i) {
    // An end stays readable, and so does the event of a task that is gone: seen once is enough.
    const bool is_end = i >= rings && polled_[i].revents != 0;
    const bool is_dead = (polled_[i].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
    if (is_end || is_dead) polled_[i].fd = -1;
  }
}

void PerfSession::drain(uint64_t before_ns) {
  const RecordLayout& layout = events_->layout();
  std::vector<Ring*> rings;
  for (Ring& ring : events_->rings()) {
    ring.look();
    rings.push_back(&ring);
  }
  merge_rings(rings, layout, before_ns, [&](std::span<const std::byte> bytes) {
    if (const Result<Record> record = parse_record(bytes, layout)) {
      processor_->process(*record);
    } else {
      processor_->builder().profile().ledger.add(ledger::kDamagedRecords);
    }
  });
}

Result<void> PerfSession::flush(uint64_t now) {
  bursts_hertz_.push_back(measure_clock_burst());
  flushed_ns_ = now;
  Profile& profile = processor_->builder().profile();
  profile.machine.clock = estimate_clock(bursts_hertz_);
  processor_->builder().run().duration_ns = static_cast<int64_t>(now - start_ns_);
  RETURN_IF_ERROR(processor_->flush(sink_));
  if (progress_) {
    progress_(
        {static_cast<double>(now - start_ns_) * 1e-9, processor_->samples(), processor_->lost()});
  }
  return {};
}

/// Some PMUs (Arm's) take a wish for precision and do nothing about it: the samples tell.
void PerfSession::remark_inexact() {
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

Recording PerfSession::complete() {
  bursts_hertz_.push_back(measure_clock_burst());
  remark_inexact();
  Recording recording = processor_->finish();
  Profile& profile = recording.profile;
  profile.machine.clock = estimate_clock(bursts_hertz_);
  Run& run = recording.run();
  run.duration_ns = static_cast<int64_t>(stop_ns_ - start_ns_);
  if (idle_time_) add_idle_time(profile, *idle_time_);
  recording.engine = samples_time() ? EngineChoice::timer : EngineChoice::pmu;
  // What is missing must be told by every report, not by this terminal alone.
  for (const std::string& remark : remarks_) profile.ledger.note(remark);
  recording.remarks = std::move(remarks_);
  losses_.period_ns = options_.period_ns;
  losses_.covers_all =
      losses_.covers_all && samples_time() && options_.delay_ns == 0 && !options_.kernel_only;
  losses_.user_only = options_.user_only || losses_.kernel_barred;
  if (command_ && command_->has_ended()) {
    run.wait_status = command_->wait_status();
    recording.command_wait_status = command_->wait_status();
    losses_.usage = command_->usage();
    run.cpu_time_ns = static_cast<int64_t>(compute_cpu_ns(command_->usage()));
  }
  if (command_ && !run.wait_status) recording.command_wait_status = SIGINT;  // we did not wait
  recording.command_started = command_.has_value();
  add_totals(profile, recording.run_id());
  add_losses(losses_, records_all(), events_->read_lost_samples(), recording);
  if (options_.stack_copy_bytes != 0 && recording.lost != 0) {
    profile.ledger.note(
        "samples with stack copies are large: fewer are lost with a lower -F, a smaller "
        "--call-graph dwarf,BYTES, or a higher kernel.perf_event_mlock_kb");
  }
  return recording;
}

/// Events that shared their counters, in the ledger; and what each counted, where that is of
/// what was recorded alone and not of whole CPUs.
void PerfSession::add_totals(Profile& profile, RunId run) const {
  if (samples_time()) return;
  const std::vector<EventTotal> totals = events_->read_totals();
  const bool are_ours = !losses_.is_per_cpu || records_all();
  ContextId context;
  if (are_ours) {
    Context whole_run;
    whole_run.run = run;
    context = ContextId(profile.contexts.size());
    profile.contexts.push_back(whole_run);
  }
  for (size_t event = 0; event < totals.size(); ++event) {
    const EventTotal& total = totals[event];
    if (are_ours) {
      profile.counts.push_back(
          {context, EventId(event), 0, 0, total.value, total.enabled_ns, total.running_ns});
    }
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
  return PerfSession(options, sink, progress).run(refusal);
}

}  // namespace culprit
