#include "recording/resource_use.h"

#include <array>
#include <fmt/format.h>
#include <string>
#include <sys/wait.h>
#include <utility>

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "base/time.h"

namespace culprit {

void parse_transfers(std::string_view text, ResourceUse& use) {
  const std::array<std::pair<std::string_view, std::optional<int64_t>*>, 4> wanted{{
      {"syscr: ", &use.read_calls},
      {"rchar: ", &use.read_bytes},
      {"syscw: ", &use.write_calls},
      {"wchar: ", &use.written_bytes},
  }};
  for (const std::string_view line : split(text, '\n')) {
    for (const auto& [key, value] : wanted) {
      if (!line.starts_with(key)) continue;
      const std::optional<uint64_t> number = find_number(line.substr(key.size()), 10);
      if (number && *number <= INT64_MAX) *value = static_cast<int64_t>(*number);
    }
  }
}

void read_transfers_at_end(pid_t pid, ResourceUse& use) {
  siginfo_t end{};
  const int options = WEXITED | WNOHANG | WNOWAIT;
  if (::waitid(P_PID, static_cast<id_t>(pid), &end, options) != 0 || end.si_pid != pid) return;
  parse_transfers(read_file(fmt::format("/proc/{}/io", pid)).value_or(""), use);
}

void add_usage(const rusage& usage, ResourceUse& use) {
  use.system_time_ns = static_cast<int64_t>(to_ns(usage.ru_stime));
  use.minor_faults = usage.ru_minflt;
  use.major_faults = usage.ru_majflt;
}

}  // namespace culprit
