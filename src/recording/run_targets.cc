#include "recording/run_targets.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/number.h"
#include "base/text.h"

namespace culprit {

WatchedProcess::WatchedProcess(pid_t pid)
    : pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {
  if (pidfd_) return;
  folder_ = Fd(::open(fmt::format("/proc/{}", pid).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

bool WatchedProcess::has_ended() const {
  if (pidfd_) {
    pollfd end{pidfd_.get(), POLLIN, 0};
    return ::poll(&end, 1, 0) > 0;
  }
  // The folder of a process that is gone opens nothing, whoever has its number now.
  const Fd file(::openat(folder_.get(), "stat", O_RDONLY | O_CLOEXEC));
  if (!file) return true;
  const Result<std::string> line = read_fd(file.get(), "stat");
  return !line || is_ended_process(*line);
}

bool is_ended_process(const std::string& stat_line) {
  constexpr size_t kThreads = 17;            // fields after the state
  const size_t name = stat_line.rfind(')');  // a name may have anything in it
  if (name == stat_line.npos || name + 2 >= stat_line.size()) return false;
  const auto fields = split(std::string_view(stat_line).substr(name + 2), ' ');
  if (fields.size() <= kThreads) return false;
  const bool is_zombie = fields[0] == "Z" || fields[0] == "X";
  return is_zombie && find_number(fields[kThreads], 10).value_or(2) <= 1;
}

Result<void> RunTargets::prepare(const TargetOptions& options) {
  if (!options.command.empty()) {
    ASSIGN_OR_RETURN(command_, StartedCommand::hold(options.command, options.environment));
  }
  limit_.raise();
  for (const pid_t pid : options.pids) processes_.emplace_back(pid);
  has_processes_ = !processes_.empty();
  return {};
}

bool RunTargets::have_ended() {
  if (command_) return command_->has_ended();
  std::erase_if(processes_, [](const WatchedProcess& process) { return process.has_ended(); });
  return has_processes_ && processes_.empty();
}

std::vector<int> RunTargets::end_descriptors() const {
  std::vector<int> descriptors;
  if (command_) descriptors.push_back(command_->end_descriptor());
  for (const WatchedProcess& process : processes_) descriptors.push_back(process.end_descriptor());
  return descriptors;
}

}  // namespace culprit
