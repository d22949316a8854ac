#include "collect/record.h"

#include <fmt/format.h>
#include <optional>

#include "collect/perf/perf_attr.h"
#include "collect/perf/perf_targets.h"
#include "collect/perf_record.h"
#include "collect/timer/posix_timer.h"
#include "model/chosen_periods.h"

namespace culprit {

namespace {

constexpr const char* kNoCopies =
    "the posix-timer engine walks stacks by frame pointers only, not by --call-graph dwarf";

Result<void> check_stack_copy(const RecordOptions& options) {
  const uint32_t bytes = options.stack_copy_bytes;
  if (bytes == 0) return {};
  if (bytes % 8 != 0 || bytes > kLargestStackCopyBytes) {
    return Error{
        fmt::format("cannot copy {} bytes of stack: it must be a multiple of 8, at most {}", bytes,
                    kLargestStackCopyBytes)};
  }
  if (!options.make_unwinder || find_unwind_registers() == 0) {
    return Error{
        "cannot unwind by unwind tables on this architecture or in this build; use "
        "--call-graph fp"};
  }
  if (options.engine == EngineChoice::posix_timer) {
    return Error{std::string(kNoCopies) + "; use --call-graph fp"};
  }
  return {};
}

Result<void> check(const RecordOptions& options) {
  const int targets = static_cast<int>(!options.pids.empty()) +
                      static_cast<int>(!options.cgroup.empty()) +
                      static_cast<int>(options.system_wide);
  if (targets > 1) return Error{"record one of: processes, a cgroup, the whole system"};
  if (targets == 0 && options.command.empty()) {
    return Error{"nothing to record: no command, no process, no cgroup"};
  }
  if (!options.pids.empty() && !options.command.empty()) {
    return Error{"record either a command or processes that run already"};
  }
  RETURN_IF_ERROR(check_cpus(options.cpus));
  if (options.user_only && options.kernel_only) {
    return Error{"neither user code nor the kernel would be sampled"};
  }
  if (options.off_cpu && options.user_only) {
    return Error{"--off-cpu: a task leaves its CPU in the kernel, which :u does not see"};
  }
  if (options.off_cpu && options.engine == EngineChoice::posix_timer) {
    return Error{
        "--off-cpu: the posix-timer engine runs with the program's CPU time and does not see it "
        "wait; use --engine timer"};
  }
  RETURN_IF_ERROR(check_stack_copy(options));
  if (options.engine == EngineChoice::posix_timer &&
      (!options.groups.empty() || options.branches || options.memory)) {
    return Error{"the posix-timer engine samples time only: no events, branches or data"};
  }
  if (options.groups.empty() && (options.branches || options.memory)) {
    return Error{
        "branches and data are sampled with hardware events: name one with -e, like cycles or "
        "branches"};
  }
  if (options.period_ns == 0) return Error{"the sampling period cannot be 0"};
  return {};
}

/// `reason`: why perf_event_open() is not used; "": it was not asked for.
Result<Recording> record_inside(const RecordOptions& options, const RecordSink& sink,
                                const ProgressSink& progress, const std::string& reason) {
  // The shim can only be in a program that we start.
  const std::string because =
      reason.empty() ? "the posix-timer engine works in programs that culprit starts" : reason;
  const char* target = !options.pids.empty()     ? "processes that are already running"
                       : !options.cgroup.empty() ? "a cgroup"
                       : options.system_wide     ? "the whole system"
                                                 : nullptr;
  if (target != nullptr) {
    return Error{std::string("cannot record ") + target + ": " + because +
                 "\nculprit doctor says what would enable it; a command can be recorded as it is"};
  }
  if (options.kernel_only) return Error{"cannot record the kernel: " + because};
  const TimerOptions timer{.command = options.command,
                           .period_ns = options.period_ns,
                           .delay_ns = options.delay_ns,
                           .flush_every_ns = options.flush_every_ns,
                           .duration_ns = options.duration_ns,
                           .stacks = options.stacks,
                           .regions = options.regions,
                           .shim_path = options.shim_path,
                           .control = options.control};
  return record_with_posix_timer(timer, sink, progress, reason);
}

Result<Recording> record_as_it_may(const RecordOptions& options, const RecordSink& sink,
                                   const ProgressSink& progress) {
  if (options.engine == EngineChoice::posix_timer) {
    return record_inside(options, sink, progress, "");
  }
  std::optional<std::string> refusal;
  Result<Recording> recording = record_with_perf(options, sink, progress, refusal);
  const bool may_fall_back =
      options.engine == EngineChoice::automatic && options.groups.empty() && !options.off_cpu;
  if (recording || !refusal || !may_fall_back) return recording;
  if (options.stack_copy_bytes != 0) {
    return Error{fmt::format("{}; and {}; use --call-graph fp", *refusal, kNoCopies)};
  }
  return record_inside(options, sink, progress, *refusal);
}

}  // namespace

Result<Recording> record(const RecordOptions& options, const RecordSink& sink,
                         const ProgressSink& progress) {
  RETURN_IF_ERROR(check(options));
  Result<Recording> recording = record_as_it_may(options, sink, progress);
  if (recording && !options.chosen_periods.empty()) {
    recording->profile.environment[std::string(kChosenPeriods)] = options.chosen_periods;
  }
  return recording;
}

}  // namespace culprit
