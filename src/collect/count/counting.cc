#include "collect/count/counting.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/time.h"
#include "collect/count/count_rows.h"
#include "collect/count/count_slices.h"
#include "collect/count/thread_readings.h"
#include "collect/perf/event_refusal.h"
#include "collect/perf/idle_time.h"
#include "collect/perf/perf_command.h"
#include "collect/perf/perf_targets.h"
#include "collect/perf/user_code_only.h"
#include "host/describe_machine.h"
#include "recording/describe_run.h"
#include "recording/descriptor_limit.h"
#include "recording/signals.h"

namespace culprit {

namespace {

Result<void> check(const CountOptions& options) {
  const int targets = static_cast<int>(!options.pids.empty()) +
                      static_cast<int>(!options.cgroup.empty()) +
                      static_cast<int>(options.system_wide);
  if (targets > 1) return Error{"count one of: processes, a cgroup, the whole system"};
  if (targets == 0 && options.command.empty()) {
    return Error{"nothing to count: no command, no process, no cgroup"};
  }
  if (!options.pids.empty() && !options.command.empty()) {
    return Error{"count either a command or processes that run already"};
  }
  if (options.command.empty() && (options.repetitions > 1 || options.one_by_one)) {
    return Error{"only a command can be run again"};
  }
  if (options.groups.empty()) return Error{"nothing to count: no events"};
  return {};
}

/// All runs of one count(); one of its run_once() is one execution.
class CountSession {
 public:
  CountSession(const CountOptions& options, const IntervalSink& on_interval)
      : options_(options), on_interval_(on_interval) {}

  Result<CountResult> run();

 private:
  Result<void> run_once(uint32_t repetition, size_t first_group, size_t groups);
  Result<CounterSet> open_counters(size_t first_group, size_t groups);
  Result<CountTargets> find_targets();
  Result<void> follow_threads(CountTargets& targets);
  bool is_over();
  void watch(CounterSet& counters);
  void read_slice(CounterSet& counters);
  void sleep_until(uint64_t until_ns);
  void add_rows(uint32_t interval);
  void add_thread_rows(const CounterSet& counters);
  void note_sharing();

  /// Each thread has a row, those that begin later, too.
  [[nodiscard]] bool follows_threads() const {
    return options_.per_thread && options_.inherit && !options_.interval_ns;
  }
  [[nodiscard]] bool counts_whole_cpus() const {
    return options_.system_wide || !options_.cgroup.empty();
  }

  const CountOptions& options_;
  const IntervalSink& on_interval_;
  SignalGuard signals_;
  CountResult counting_;
  std::vector<size_t> first_events_;  // of each group
  bool user_only_ = false;            // the kernel may not be counted, but nobody chose that

  // Of the execution that runs.
  std::optional<PerfCommand> command_;
  std::optional<Cgroup> cgroup_;
  std::vector<pid_t> tids_;
  std::vector<Fd> ends_;  // of observed processes: readable when they have ended
  std::optional<CountSlices> slices_;
  std::optional<ThreadReadings> threads_;
  std::vector<ContextId> contexts_;  // of each source
  uint32_t repetition_ = 0;
  size_t first_event_ = 0;
  uint64_t start_ns_ = 0;
};

Result<CountResult> CountSession::run() {
  counting_.profile.machine = describe_machine();
  if (options_.interval_ns) {
    counting_.profile.environment["interval_ns"] = std::to_string(*options_.interval_ns);
  }
  for (const EventGroup& group : options_.groups) {
    first_events_.push_back(counting_.profile.events.size());
    add_counted_events(counting_.profile, group);
  }
  const size_t all = options_.groups.size();
  const size_t step = options_.one_by_one ? 1 : all;
  for (uint32_t repetition = 0; repetition < options_.repetitions; ++repetition) {
    for (size_t group = 0; group < all && !counting_.interrupted; group += step) {
      RETURN_IF_ERROR(run_once(repetition, group, step));
      counting_.interrupted = SignalGuard::interruptions() > 0;
    }
  }
  note_sharing();
  for (const std::string& remark : counting_.remarks) counting_.profile.ledger.note(remark);
  return std::move(counting_);
}

Result<CountTargets> CountSession::find_targets() {
  CountTargets targets;
  targets.inherit = options_.inherit && !options_.per_thread;
  targets.cpus = options_.cpus;
  if (follows_threads()) RETURN_IF_ERROR(follow_threads(targets));
  if (!options_.cgroup.empty()) {
    ASSIGN_OR_RETURN(cgroup_, open_cgroup(options_.cgroup));
    targets.cgroup = cgroup_->fd.get();
  }
  if (counts_whole_cpus()) {
    if (targets.cpus.empty()) targets.cpus = list_online_cpus();
    return targets;
  }
  if (command_) tids_ = {command_->pid()};
  for (const pid_t pid : options_.pids) {
    const std::vector<pid_t> threads = list_threads(pid);
    if (threads.empty()) {
      return Error{fmt::format("cannot count process {}: there is no such process", pid)};
    }
    tids_.insert(tids_.end(), threads.begin(), threads.end());
    ends_.emplace_back(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  }
  targets.tids = tids_;
  targets.starts_at_exec = command_ && options_.delay_ns == 0;
  return targets;
}

/// Where this kernel cannot, processes that run are counted by the threads they have.
Result<void> CountSession::follow_threads(CountTargets& targets) {
  const Result<uint64_t> parts = find_thread_sample_type();
  if (!parts && options_.pids.empty()) return parts.error();
  if (!parts) {
    counting_.remarks.emplace_back(
        "threads that began later are not counted: this kernel does not tell of them");
    return {};
  }
  targets.thread_sample_type = *parts;
  targets.inherit = true;
  if (targets.cpus.empty()) targets.cpus = list_online_cpus();
  return {};
}

/// With the kernel, if that is permitted; else the program's own code alone, and says so.
Result<CounterSet> CountSession::open_counters(size_t first_group, size_t groups) {
  ASSIGN_OR_RETURN(const CountTargets targets, find_targets());
  std::vector<EventGroup> wanted(
      options_.groups.begin() + static_cast<ptrdiff_t>(first_group),
      options_.groups.begin() + static_cast<ptrdiff_t>(first_group + groups));
  if (!counts_whole_cpus()) user_only_ |= leave_out_barred_kernel(wanted);
  std::vector<RefusedEvent> refused;
  ASSIGN_OR_RETURN(CounterSet counters,
                   CounterSet::open(wanted, targets, options_.may_leave_out ? &refused : nullptr));
  for (RefusedEvent& event : refused) {
    event.event += first_events_[first_group];
    const bool is_known =
        std::any_of(counting_.refused.begin(), counting_.refused.end(),
                    [&](const RefusedEvent& known) { return known.event == event.event; });
    if (!is_known) counting_.refused.push_back(std::move(event));
  }
  if (targets.thread_sample_type != 0) {
    ASSIGN_OR_RETURN(threads_, ThreadReadings::open(counters, targets));
  }
  return counters;
}

Result<void> CountSession::run_once(uint32_t repetition, size_t first_group, size_t groups) {
  DescriptorLimit limit;
  command_.reset();
  tids_.clear();
  ends_.clear();
  repetition_ = repetition;
  first_event_ = first_events_[first_group];
  slices_.emplace(options_.interval_ns.has_value());
  threads_.reset();
  if (!options_.command.empty()) {
    ASSIGN_OR_RETURN(command_, PerfCommand::start(options_.command));
  }
  limit.raise();
  ASSIGN_OR_RETURN(CounterSet counters, open_counters(first_group, groups));

  Run run;
  StringTable& strings = counting_.profile.strings;
  run.host = strings.intern(read_host_name());
  run.command = strings.intern(
      describe_targets(options_.command, options_.pids, options_.cgroup, options_.system_wide));
  run.start_ns = static_cast<int64_t>(read_clock_ns(CLOCK_REALTIME));
  contexts_ = add_counted_run(counting_.profile, run, threads_ ? std::span<const pid_t>() : tids_,
                              options_.per_thread);

  const bool starts_by_itself = command_ && !counts_whole_cpus();
  start_ns_ = monotonic_ns();
  if (options_.delay_ns == 0 && !starts_by_itself) counters.enable();
  if (command_) {
    signals_.pass_on_to(command_->pid());
    RETURN_IF_ERROR(command_->let_go(0));
  }
  std::optional<IdleWatch> idle;
  if (options_.system_wide) idle.emplace(options_.cpus);
  watch(counters);
  if (const auto time = idle ? idle->measure() : std::nullopt) {
    add_idle_time(counting_.profile, *time);
  }
  Run& row = counting_.profile.runs.back();
  row.duration_ns = static_cast<int64_t>(monotonic_ns() - start_ns_);
  if (threads_) {
    add_thread_rows(counters);
  } else if (!options_.interval_ns) {
    for (uint32_t i = 0; i < slices_->slices().size(); ++i) add_rows(i);
  }
  if (!command_) return {};
  counting_.command_started = true;
  if (command_->has_ended()) {
    row.wait_status = counting_.command_wait_status = command_->wait_status();
    row.cpu_time_ns = static_cast<int64_t>(compute_cpu_ns(command_->usage()));
  } else {
    counting_.command_wait_status = SIGINT;  // we did not wait
  }
  return {};
}

bool CountSession::is_over() {
  const int interruptions = SignalGuard::interruptions();
  if (command_) return command_->has_ended() || interruptions > 1;
  if (interruptions > 0) return true;
  if (options_.pids.empty()) return false;
  return std::all_of(ends_.begin(), ends_.end(), [](const Fd& fd) {
    pollfd end{fd.get(), POLLIN, 0};
    return fd && ::poll(&end, 1, 0) > 0;
  });
}

/// Until what is counted has ended, the time is over, or somebody interrupts.
void CountSession::watch(CounterSet& counters) {
  bool counts = options_.delay_ns == 0;
  bool is_done = false;
  uint64_t next_ns = start_ns_ + options_.interval_ns.value_or(slices_->period_ns());
  while (!is_over()) {
    const uint64_t now = monotonic_ns();
    if (!counts && !is_done && now - start_ns_ >= options_.delay_ns) {
      counters.enable();
      counts = true;
    }
    if (options_.duration_ns && now - start_ns_ >= *options_.duration_ns && !is_done) {
      // The command goes on without us, but we stay to tell how it ends.
      counters.disable();
      read_slice(counters);
      is_done = true;
      counts = false;
      if (!command_) return;
    }
    if (counts && now >= next_ns) {
      read_slice(counters);
      next_ns = options_.interval_ns ? next_ns + *options_.interval_ns : now + slices_->period_ns();
    }
    uint64_t until_ns = is_done ? now + 1'000'000'000 : next_ns;
    if (!counts && !is_done) until_ns = start_ns_ + options_.delay_ns;
    if (options_.duration_ns && !is_done) {
      until_ns = std::min(until_ns, start_ns_ + *options_.duration_ns);
    }
    sleep_until(until_ns);
  }
  if (!is_done) {
    counters.disable();
    read_slice(counters);
  }
}

void CountSession::read_slice(CounterSet& counters) {
  if (threads_) {
    threads_->drain();
    return;
  }
  slices_->add(counters.read_new());
  if (!options_.interval_ns) return;
  const uint32_t interval = static_cast<uint32_t>(slices_->slices().size() - 1);
  add_rows(interval);
  if (on_interval_) on_interval_(counting_.profile, repetition_, interval);
}

void CountSession::sleep_until(uint64_t until_ns) {
  std::vector<pollfd> polled;
  if (command_) polled.push_back({command_->end_descriptor(), POLLIN, 0});
  for (const Fd& end : ends_) {
    pollfd fd{end.get(), POLLIN, 0};
    // An end stays readable: of several processes those that run yet are waited for.
    if (::poll(&fd, 1, 0) == 0) polled.push_back(fd);
  }
  const uint64_t now = monotonic_ns();
  const uint64_t wait_ns = until_ns > now ? until_ns - now : 0;
  const timespec wait{static_cast<time_t>(wait_ns / 1'000'000'000),
                      static_cast<long>(wait_ns % 1'000'000'000)};
  ::ppoll(polled.data(), polled.size(), &wait, nullptr);
}

void CountSession::add_rows(uint32_t interval) {
  const CountPlace place{first_event_, interval, repetition_};
  add_count_rows(counting_.profile, place, contexts_, counting_.refused,
                 slices_->slices()[interval]);
}

void CountSession::add_thread_rows(const CounterSet& counters) {
  std::vector<ThreadReading> threads = threads_->finish(counters, counting_.remarks);
  const size_t events = counters.events();
  std::vector<Reading> readings(events * threads.size());
  std::vector<ContextId> contexts;
  for (size_t thread = 0; thread < threads.size(); ++thread) {
    contexts.push_back(add_counted_thread(counting_.profile, threads[thread].tid,
                                          std::move(threads[thread].name)));
    for (size_t event = 0; event < events; ++event) {
      readings[event * threads.size() + thread] = threads[thread].readings[event];
    }
  }
  add_count_rows(counting_.profile, {first_event_, 0, repetition_}, contexts, counting_.refused,
                 readings);
}

/// What weakens the numbers: events that shared counters, and who else may hold some.
void CountSession::note_sharing() {
  if (user_only_) {
    counting_.remarks.emplace_back(
        "user code only: kernel.perf_event_paranoid bars the kernel from being counted");
  }
  const bool is_shared =
      std::any_of(counting_.profile.counts.begin(), counting_.profile.counts.end(),
                  [](const Count& row) { return row.time_running_ns < row.time_enabled_ns; });
  if (!is_shared) return;
  counting_.remarks.emplace_back(
      "more events than counters: some counted for a part of the time only and are "
      "extrapolated (--one-by-one runs the program once for each group instead)");
  if (const std::string holders = name_counter_holders(); !holders.empty()) {
    counting_.remarks.push_back(holders);
  }
}

}  // namespace

Result<CountResult> count(const CountOptions& options, const IntervalSink& on_interval) {
  RETURN_IF_ERROR(check(options));
  return CountSession(options, on_interval).run();
}

}  // namespace culprit
