#include "collect/perf/user_code_only.h"

#include <cerrno>
#include <linux/perf_event.h>

#include "host/capabilities_probe.h"

namespace culprit {

namespace {

bool is_kernel_barred() {
  const int reason = try_event(ProbeEvent::cpu_clock, false, 0, -1);
  return reason == EACCES || reason == EPERM;
}

bool is_of_kernel(const EventRequest& event) {
  constexpr uint64_t kCgroupSwitches = 11;  // PERF_COUNT_SW_CGROUP_SWITCHES, Linux 5.13
  return event.type == PERF_TYPE_SOFTWARE &&
         (event.config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
          event.config == PERF_COUNT_SW_CPU_MIGRATIONS || event.config == kCgroupSwitches);
}

}  // namespace

bool leave_out_barred_kernel(std::vector<EventGroup>& groups) {
  if (!is_kernel_barred()) return false;
  bool changed = false;
  for (EventGroup& group : groups) {
    for (EventRequest& event : group.members) {
      if (is_of_kernel(event) || event.exclude_kernel || event.exclude_user) continue;
      event.exclude_kernel = event.exclude_hypervisor = true;
      changed = true;
    }
  }
  return changed;
}

}  // namespace culprit
