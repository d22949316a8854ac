#include "collect/session.h"

#include <fmt/format.h>
#include <string>
#include <unistd.h>

namespace culprit {

uint64_t read_clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t to_ns(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(time.tv_usec) * 1'000;
}

uint64_t compute_cpu_ns(const rusage& usage) {
  return to_ns(usage.ru_utime) + to_ns(usage.ru_stime);
}

Run describe_run(ProfileBuilder& builder, const RecordOptions& options) {
  Run run;
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  run.host = builder.intern(host);
  std::string line = fmt::format("{}", fmt::join(options.command, " "));
  for (const pid_t pid : options.pids) {
    line += fmt::format("{}pid {}", line.empty() ? "" : ", ", pid);
  }
  if (!options.cgroup.empty()) {
    line += fmt::format("{}cgroup {}", line.empty() ? "" : " in ", options.cgroup);
  }
  if (options.system_wide && line.empty()) line = "the whole system";
  run.command = builder.intern(line);
  run.start_ns = static_cast<int64_t>(read_clock_ns(CLOCK_REALTIME));
  return run;
}

void DescriptorLimit::raise() {
  if (is_raised_ || ::getrlimit(RLIMIT_NOFILE, &before_) != 0) return;
  rlimit more = before_;
  more.rlim_cur = more.rlim_max;
  is_raised_ = ::setrlimit(RLIMIT_NOFILE, &more) == 0;
}

DescriptorLimit::~DescriptorLimit() {
  if (is_raised_) ::setrlimit(RLIMIT_NOFILE, &before_);
}

}  // namespace culprit
