#include "collect/perf/event_refusal.h"

#include <cerrno>
#include <cstdlib>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <unistd.h>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "host/capabilities_probe.h"
#include "host/describe_machine.h"
#include "recording/process_folder.h"

namespace culprit {

namespace {

bool is_of_hardware(const EventRequest& event) {
  return event.type == PERF_TYPE_HARDWARE || event.type == PERF_TYPE_HW_CACHE ||
         event.type == PERF_TYPE_RAW || event.type > PERF_TYPE_BREAKPOINT;
}

std::string read_word(const char* path) {
  const std::string text = read_file(path).value_or("");
  return text.substr(0, text.find('\n'));
}

std::string explain_absence(const EventRequest& event, const Machine& machine) {
  if (!is_of_hardware(event) || machine.has_pmu) {
    return "this machine does not count it (`culprit events` lists what it counts)";
  }
  const bool is_guest = !machine.virtualization.empty();
  return fmt::format(
      "no hardware PMU: {}\n-> {}; software events (task-clock, page-faults, "
      "context-switches) count here, `culprit record --engine timer` samples time, and "
      "`--engine timer+simulate` has exact, simulated counts beside it",
      is_guest ? "this is a virtual machine without one" : "this kernel knows none on this machine",
      is_guest ? "use a metal machine, or one whose hypervisor offers a virtual PMU"
               : "see dmesg for why the PMU's driver did not start");
}

std::string explain_permission(const EventRequest& event, int error_number, bool whole_cpus) {
  if (error_number == EPERM) {
    return "not permitted (EPERM)\n-> run the container with a seccomp profile that allows "
           "perf_event_open, or with --cap-add PERFMON";
  }
  const int wanted = whole_cpus || event.is_per_cpu_only ? 0 : event.exclude_kernel ? 2 : 1;
  const std::string level = read_word("/proc/sys/kernel/perf_event_paranoid");
  if (!level.empty() && std::strtol(level.c_str(), nullptr, 10) <= wanted) {
    // The kernel asks, as for ptrace, whose process it is.
    return fmt::format(
        "not permitted, though not for kernel.perf_event_paranoid, which is {}: the process is "
        "another user's, or has more rights than we\n-> run as root, or setcap "
        "cap_perfmon,cap_sys_ptrace+ep culprit",
        level);
  }
  return fmt::format(
      "not permitted: kernel.perf_event_paranoid is {}\n-> run as root, or sysctl "
      "kernel.perf_event_paranoid={}, or setcap cap_perfmon+ep culprit{}",
      level, wanted, event.exclude_kernel || whole_cpus ? "" : ", or take user code only (:u)");
}

bool holds_perf_events(uint32_t pid) {
  const std::string folder = fmt::format("/proc/{}/fd", pid);
  for (const uint32_t fd : list_numbered_entries(folder)) {
    char target[64];
    const ssize_t size =
        ::readlink(fmt::format("{}/{}", folder, fd).c_str(), target, sizeof target);
    if (size > 0 &&
        std::string_view(target, static_cast<size_t>(size)) == "anon_inode:[perf_event]")
      return true;
  }
  return false;
}

}  // namespace

Error explain_refusal(const EventRequest& event, const Refusal& refusal) {
  const int error_number = refusal.error_number;
  const auto say = [&](const std::string& why) {
    return Error{fmt::format("cannot {} '{}': {}", refusal.verb, event.name, why)};
  };
  switch (error_number) {
    case ENOENT:
      // A cgroup v2 gets its perf_event controller when any controller is turned on above it.
      if (refusal.in_cgroup && (!is_of_hardware(event) || describe_machine().has_pmu)) {
        return say(
            "this machine does not count it, or the cgroup has no perf_event controller\n"
            "-> echo +pids > cgroup.subtree_control in the folder above the cgroup");
      }
      [[fallthrough]];
    case ENODEV:
    case ENXIO:
    case EOPNOTSUPP:
      return say(explain_absence(event, describe_machine()));
    case EACCES:
    case EPERM:
      return say(explain_permission(event, error_number, refusal.whole_cpus));
    case EINVAL:
      return say(refusal.in_group
                     ? "the events of its group do not fit on the counters together\n"
                       "-> smaller groups, or the events without braces"
                     : "the kernel takes no such event: a modifier, a code or a combination that "
                       "this machine does not have (EINVAL)");
    case EBUSY:
      return say("another user holds the counters that it needs (EBUSY)" +
                 (name_counter_holders().empty() ? "" : ": " + name_counter_holders()));
    case ENOSPC:
      return say(
          "no breakpoint register is free (ENOSPC): a CPU has about four, for all that watch "
          "addresses there" +
          (name_counter_holders().empty() ? "" : "; " + name_counter_holders()));
    case EMFILE:
      return say("too many events for the limit of open files\n-> ulimit -n with a higher number");
    case ENOSYS:
      return say("this kernel has no perf events (CONFIG_PERF_EVENTS)");
    default:
      return say(fmt::format("perf_event_open: {}", error_name(error_number)));
  }
}

std::string name_counter_holders() {
  std::vector<std::string> holders;
  if (read_word("/proc/sys/kernel/nmi_watchdog") == "1") {
    holders.emplace_back(
        "the NMI watchdog holds a counter (sysctl kernel.nmi_watchdog=0 frees it)");
  }
  constexpr size_t kNamed = 4;
  for (const uint32_t pid : list_numbered_entries("/proc")) {
    if (holders.size() >= kNamed) break;
    if (pid == static_cast<uint32_t>(::getpid()) || !holds_perf_events(pid)) continue;
    holders.push_back(
        fmt::format("{} (pid {}) has perf events open", printable(read_task_name(pid)), pid));
  }
  return fmt::format("{}", fmt::join(holders, "; "));
}

}  // namespace culprit
