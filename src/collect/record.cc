#include "collect/record.h"

#include <optional>

#include "collect/perf_record.h"
#include "collect/posix_timer.h"

namespace culprit {

namespace {

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
  if (options.user_only && options.kernel_only) {
    return Error{"neither user code nor the kernel would be sampled"};
  }
  if (options.period_ns == 0) return Error{"the sampling period cannot be 0"};
  return {};
}

}  // namespace

Result<Recording> record(const RecordOptions& options, const RecordSink& sink,
                         const ProgressSink& progress) {
  RETURN_IF_ERROR(check(options));
  if (options.engine == Engine::posix_timer) {
    return record_with_posix_timer(options, sink, progress, "");
  }
  std::optional<std::string> refusal;
  Result<Recording> recording = record_with_perf(options, sink, progress, refusal);
  if (recording || !refusal || options.engine != Engine::automatic) return recording;
  return record_with_posix_timer(options, sink, progress, *refusal);
}

}  // namespace culprit
