#include "collect/perf/event_trial.h"

#include <cerrno>

#include "base/file.h"
#include "collect/perf/event_refusal.h"
#include "collect/perf/perf_attr.h"

namespace culprit {

std::string EventTrials::try_event(const EventRequest& event) {
  const bool whole_cpu = event.is_per_cpu_only;
  const int cpu = !whole_cpu ? -1 : event.cpus.empty() ? 0 : event.cpus.front();
  Fd fd;
  if (!event.is_absent) {
    fd = open_perf_event(make_counting_attr(event, true), whole_cpu ? -1 : 0, cpu);
  }
  if (fd) return "";
  const int error_number = event.is_absent ? ENOENT : errno;
  std::string& reason = reasons_[{event.pmu, error_number}];
  if (reason.empty()) {
    const std::string message = explain_refusal(event, {error_number, whole_cpu}).message;
    const std::string opening = "cannot count '" + event.name + "': ";
    reason = message.starts_with(opening) ? message.substr(opening.size()) : message;
  }
  return reason;
}

}  // namespace culprit
