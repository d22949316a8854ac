#include "collect/count/counting.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

#include "base/time.h"
#include "collect/count/count_rows.h"
#include "collect/count/count_slices.h"
#include "collect/count/thread_readings.h"
#include "collect/perf/event_refusal.h"
#include "collect/perf/idle_time.h"
#include "collect/perf/perf_targets.h"
#include "collect/perf/user_code_only.h"
#include "host/describe_machine.h"
#include "recording/describe_run.h"
#include "recording/run_loop.h"

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
  RETURN_IF_ERROR(check_cpus(options.cpus));
  return {};
}

/// What one run counts, slice by slice, of counters that are open.
class CountSource final : public RunSource {
 public:
  using OnInterval = std::function<void(uint32_t interval, std::span<const Reading> slice)>;

  /// `threads`: they have rows of their own, and there are no slices; null: slices.
  /// `on_interval`: called at the end of each interval that was asked for.
  CountSource(const CountOptions& options, CounterSet& counters, ThreadReadings* threads,
              bool starts_by_itself, OnInterval on_interval)
      : options_(options),
        counters_(counters),
        threads_(threads),
        starts_by_itself_(starts_by_itself),
        on_interval_(std::move(on_interval)),
        slices_(options.interval_ns.has_value()) {}

  void begin() override;
  void take(uint64_t now_ns) override;
  [[nodiscard]] uint64_t next_take_ns(uint64_t now_ns) const override;
  void end() override;

  [[nodiscard]] const CountSlices& slices() const { return slices_; }
  [[nodiscard]] std::optional<IdleTime> idle_time() const { return idle_time_; }

 private:
  void read_slice();

  const CountOptions& options_;
  CounterSet& counters_;
  ThreadReadings* threads_;
  bool starts_by_itself_;  // with the exec of the command
  OnInterval on_interval_;
  CountSlices slices_;
  std::optional<uint64_t> next_ns_;
  std::optional<IdleWatch> idle_;  // of whole CPUs
  std::optional<IdleTime> idle_time_;
};

void CountSource::begin() {
  if (!starts_by_itself_) counters_.enable();
  if (options_.system_wide) idle_.emplace(options_.cpus);
  next_ns_ = monotonic_ns() + options_.interval_ns.value_or(slices_.period_ns());
}

void CountSource::take(uint64_t now_ns) {
  if (!next_ns_ || now_ns < *next_ns_) return;
  read_slice();
  next_ns_ =
      options_.interval_ns ? *next_ns_ + *options_.interval_ns : now_ns + slices_.period_ns();
}

uint64_t CountSource::next_take_ns(uint64_t) const {
  return next_ns_.value_or(UINT64_MAX);
}

void CountSource::end() {
  counters_.disable();
  if (idle_) idle_time_ = idle_->measure();
  read_slice();
}

void CountSource::read_slice() {
  if (threads_ != nullptr) {
    threads_->drain();
    return;
  }
  slices_.add(counters_.read_new());
  const auto& slices = slices_.slices();
  if (options_.interval_ns) on_interval_(static_cast<uint32_t>(slices.size() - 1), slices.back());
}

/// All runs of one count(); one of its run_once() is one execution.
class CountSession {
 public:
  CountSession(const CountOptions& options, const IntervalSink& on_interval)
      : options_(options), on_interval_(on_interval) {}

  Result<CountResult> run();

 private:
  Result<void> run_once(uint32_t repetition, size_t first_group, size_t groups);
  Result<CounterSet> open_counters(const RunTargets& processes, size_t first_group, size_t groups);
  Result<CountTargets> find_targets(const RunTargets& processes);
  Result<void> follow_threads(CountTargets& targets);
  void describe_run();
  void add_rows(uint32_t interval, std::span<const Reading> slice);
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
  CountResult counting_;
  std::vector<size_t> first_events_;  // of each group
  bool user_only_ = false;            // the kernel may not be counted, but nobody chose that

  // What belongs to the execution that runs.
  std::optional<Cgroup> cgroup_;
  std::vector<pid_t> tids_;
  std::optional<ThreadReadings> threads_;
  std::vector<ContextId> contexts_;  // of each source
  uint32_t repetition_ = 0;
  size_t first_event_ = 0;
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
    }
  }
  note_sharing();
  for (const std::string& remark : counting_.remarks) counting_.profile.ledger.note(remark);
  return std::move(counting_);
}

Result<CountTargets> CountSession::find_targets(const RunTargets& processes) {
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
  const StartedCommand* const command = processes.command();
  if (command != nullptr) tids_ = {command->pid()};
  for (const pid_t pid : options_.pids) {
    if (list_threads(pid).empty()) {
      return Error{fmt::format("cannot count process {}: there is no such process", pid)};
    }
  }
  for (const pid_t pid : options_.inherit ? with_descendants(options_.pids) : options_.pids) {
    const std::vector<pid_t> threads = list_threads(pid);
    tids_.insert(tids_.end(), threads.begin(), threads.end());
  }
  targets.tids = tids_;
  targets.starts_at_exec = command != nullptr && options_.delay_ns == 0;
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

/// Counts the kernel, too, if that is permitted; else the program's own code alone, and says so.
Result<CounterSet> CountSession::open_counters(const RunTargets& processes, size_t first_group,
                                               size_t groups) {
  ASSIGN_OR_RETURN(const CountTargets targets, find_targets(processes));
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

void CountSession::describe_run() {
  Run run;
  StringTable& strings = counting_.profile.strings;
  run.host = strings.intern(read_host_name());
  run.command = strings.intern(
      describe_targets(options_.command, options_.pids, options_.cgroup, options_.system_wide));
  run.start_ns = static_cast<int64_t>(read_clock_ns(CLOCK_REALTIME));
  contexts_ = add_counted_run(counting_.profile, run, threads_ ? std::span<const pid_t>() : tids_,
                              options_.per_thread);
}

Result<void> CountSession::run_once(uint32_t repetition, size_t first_group, size_t groups) {
  tids_.clear();
  repetition_ = repetition;
  first_event_ = first_events_[first_group];
  threads_.reset();
  RunTargets processes;
  RETURN_IF_ERROR(processes.prepare({options_.command, options_.pids}));
  ASSIGN_OR_RETURN(CounterSet counters, open_counters(processes, first_group, groups));
  describe_run();

  const bool starts_by_itself =
      processes.command() != nullptr && !counts_whole_cpus() && options_.delay_ns == 0;
  CountSource source(options_, counters, threads_ ? &*threads_ : nullptr, starts_by_itself,
                     [&](uint32_t interval, std::span<const Reading> slice) {
                       add_rows(interval, slice);
                       if (on_interval_) on_interval_(counting_.profile, repetition_, interval);
                     });
  ASSIGN_OR_RETURN(const RunEnd end, run_loop(source, processes,
                                              LoopOptions{.delay_ns = options_.delay_ns,
                                                          .duration_ns = options_.duration_ns,
                                                          .control = options_.control}));
  if (const auto time = source.idle_time()) add_idle_time(counting_.profile, *time);
  if (threads_) {
    add_thread_rows(counters);
  } else if (!options_.interval_ns) {
    uint32_t interval = 0;
    for (const std::vector<Reading>& slice : source.slices().slices()) add_rows(interval++, slice);
  }
  end.describe(counting_.profile.runs.back());
  counting_.interrupted = end.stop != StopRequest::none;
  counting_.command_started = end.has_command;
  counting_.command_wait_status = end.command_wait_status();
  return {};
}

void CountSession::add_rows(uint32_t interval, std::span<const Reading> slice) {
  const CountPlace place{first_event_, interval, repetition_};
  add_count_rows(counting_.profile, place, contexts_, counting_.refused, slice);
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
