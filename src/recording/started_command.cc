#include "recording/started_command.h"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "recording/child_end.h"
#include "recording/signals.h"

namespace culprit {
namespace {

std::vector<char*> make_pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<StartedCommand> StartedCommand::start(const std::vector<std::string>& command,
                                             const std::vector<std::string>& environment) {
  std::vector<char*> words = make_pointers(command);
  std::vector<char*> variables = make_pointers(environment);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error("cannot make a pipe", errno);
  const Fd reader(ends[0]);
  Fd writer(ends[1]);

  const pid_t pid = ::fork();
  if (pid < 0) return errno_error("cannot start a process", errno);
  if (pid == 0) {
    SignalGuard::give_back_in_child();
    ::execvpe(words[0], words.data(), variables.data());
    const int reason = errno;
    [[maybe_unused]] const ssize_t ignored = ::write(writer.get(), &reason, sizeof reason);
    ::_exit(127);
  }
  writer.reset();
  int reason = 0;
  ssize_t got = 0;
  do {
    got = ::read(reader.get(), &reason, sizeof reason);
  } while (got < 0 && errno == EINTR);
  StartedCommand started(pid);
  if (got != sizeof reason) return started;
  while (!started.wait(1000)) continue;
  return errno_error("cannot run '" + command[0] + "'", reason);
}

StartedCommand::StartedCommand(pid_t pid)
    : pid_(pid), pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}

bool StartedCommand::has_ended() {
  if (!ended_) ended_ = wait_for_end(pid_, WNOHANG, &wait_status_, &usage_);
  return ended_;
}

bool StartedCommand::wait(int timeout_ms) {
  if (has_ended()) return true;
  if (pidfd_) {
    pollfd end{pidfd_.get(), POLLIN, 0};
    ::poll(&end, 1, timeout_ms);
    return has_ended();
  }
  constexpr int kStepMs = 5;  // a kernel, or filter, without pidfd_open
  for (int waited_ms = 0; waited_ms < timeout_ms && !has_ended(); waited_ms += kStepMs) {
    ::poll(nullptr, 0, kStepMs);
  }
  return has_ended();
}

}  // namespace culprit
