#pragma once

// Where to sample: CPUs, threads, the folder of a cgroup and its processes.

#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace culprit {

/// CPUs that we, and so our command, may run on.
std::vector<int> list_allowed_cpus();
std::vector<int> list_online_cpus();

/// Errors: a CPU that this machine has not, or that is offline
Result<void> check_cpus(const std::vector<int>& cpus);

/// "0-3,8" -> 0 1 2 3 8; nonsense is left out.
std::vector<int> parse_cpu_list(std::string_view text);

/// Threads of a process; empty if it is gone.
std::vector<pid_t> list_threads(pid_t pid);

/// The processes, then all that they have started and that still runs: what "and their children"
/// means, since the kernel gives an event only to children that are started after it was opened.
std::vector<pid_t> with_descendants(const std::vector<pid_t>& pids);

struct Cgroup {
  std::string folder;
  Fd fd;
};

/// `name` is a folder, or a path below the mount that perf events follow: that of the
/// perf_event controller (version 1), else the unified hierarchy.
Result<Cgroup> open_cgroup(const std::string& name);

/// Processes in the cgroup and those below it.
std::vector<pid_t> list_cgroup_processes(const Cgroup& cgroup);

}  // namespace culprit
