#include "recording/describe_run.h"

#include <fmt/format.h>
#include <string>
#include <unistd.h>

#include "base/time.h"

namespace culprit {

std::string describe_targets(const std::vector<std::string>& command,
                             const std::vector<pid_t>& pids, const std::string& cgroup,
                             bool system_wide) {
  std::string line = fmt::format("{}", fmt::join(command, " "));
  for (const pid_t pid : pids) {
    line += fmt::format("{}pid {}", line.empty() ? "" : ", ", pid);
  }
  if (!cgroup.empty()) line += fmt::format("{}cgroup {}", line.empty() ? "" : " in ", cgroup);
  if (system_wide && line.empty()) line = "the whole system";
  return line;
}

std::string read_host_name() {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return host;
}

Run describe_run(ProfileBuilder& builder, const std::string& targets) {
  Run run;
  run.host = builder.intern(read_host_name());
  run.command = builder.intern(targets);
  run.start_ns = static_cast<int64_t>(read_clock_ns(CLOCK_REALTIME));
  return run;
}

}  // namespace culprit
