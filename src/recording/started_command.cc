#include "recording/started_command.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exec_command.h"
#include "base/time.h"
#include "recording/child_end.h"
#include "recording/resource_use.h"
#include "recording/signals.h"

namespace culprit {

namespace {

/// Reads all of it, or none.
bool read_whole(int fd, void* to, size_t size) {
  ssize_t got = 0;
  do {
    got = ::read(fd, to, size);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(size);
}

/// This runs between fork and exec: only what is safe there. Descriptors of ours close themselves.
[[noreturn]] void run_child(int gate, const ExecCommand& command, char* const* environment,
                            const sigset_t& mask) {
  SignalGuard::give_back_in_child();
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  uint64_t spin_ns = 0;
  if (!read_whole(gate, &spin_ns, sizeof spin_ns)) ::_exit(127);
  const uint64_t end_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID) + spin_ns;
  while (read_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns) continue;
  const int reason = command.exec(environment);
  [[maybe_unused]] const ssize_t ignored = ::write(gate, &reason, sizeof reason);
  ::_exit(127);
}

}  // namespace

StartedCommand::StartedCommand(std::string name, pid_t pid, Fd gate)
    : name_(std::move(name)),
      pid_(pid),
      pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))),
      gate_(std::move(gate)) {}

Result<StartedCommand> StartedCommand::make(const std::vector<std::string>& command,
                                            const std::vector<std::string>* environment,
                                            bool is_held) {
  CHECK(!command.empty());
  const ExecCommand prepared(command);
  const std::vector<char*> variables =
      environment == nullptr ? std::vector<char*>() : make_exec_words(*environment);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return errno_error("cannot make a pair of sockets", errno);
  }
  Fd ours(ends[0]);
  const Fd childs(ends[1]);

  // A signal for the child waits until the child has its own handlers, and not ours.
  sigset_t endings;
  sigset_t mask;
  ::sigemptyset(&endings);
  for (const int signal : kEndingSignals) ::sigaddset(&endings, signal);
  constexpr uint64_t kNoSpin = 0;
  if (!is_held && ::send(ours.get(), &kNoSpin, sizeof kNoSpin, 0) != sizeof kNoSpin) {
    return errno_error("cannot write to a socket", errno);
  }
  ::sigprocmask(SIG_BLOCK, &endings, &mask);
  // Who does not wait takes our memory until its exec, which costs nothing, however much we have.
  const pid_t pid = is_held ? ::fork() : ::vfork();
  const int reason = errno;
  if (pid == 0) {
    ::close(ours.get());  // else our death would not end the wait
    run_child(childs.get(), prepared, environment == nullptr ? environ : variables.data(), mask);
  }
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  if (pid < 0) return errno_error("cannot start a process", reason);
  return StartedCommand(command[0], pid, std::move(ours));
}

StartedCommand::~StartedCommand() {
  if (!gate_ || is_let_go_) return;  // moved from, or running
  gate_.reset();
  wait();
}

Result<void> StartedCommand::let_go(uint64_t spin_ns) {
  is_let_go_ = true;
  if (::send(gate_.get(), &spin_ns, sizeof spin_ns, MSG_NOSIGNAL) != sizeof spin_ns) {
    const int reason = errno;
    wait();
    if (reason == EPIPE && WIFSIGNALED(wait_status_)) return {};
    return errno_error("cannot run '" + name_ + "'", reason);
  }
  return read_whether_it_runs();
}

Result<void> StartedCommand::read_whether_it_runs() {
  int reason = 0;
  if (!read_whole(gate_.get(), &reason, sizeof reason)) return {};
  wait();
  const std::string why = reason == ENOEXEC
                              ? "it is no program for this machine (--engine simulate runs 64-bit "
                                "programs for x86-64 and aarch64)"
                              : std::strerror(reason);
  return Error{"cannot run '" + name_ + "': " + why, ErrorKind::cannot_run};
}

bool StartedCommand::has_ended() {
  if (has_ended_) return true;
  read_transfers_at_end(pid_, use_);
  has_ended_ = wait_for_end(pid_, WNOHANG, &wait_status_, &usage_);
  if (has_ended_) add_usage(usage_, use_);
  return has_ended_;
}

void StartedCommand::wait() {
  if (!has_ended_) has_ended_ = wait_for_end(pid_, 0, &wait_status_, &usage_);
}

Result<StartedCommand> StartedCommand::hold(const std::vector<std::string>& command,
                                            const std::vector<std::string>* environment) {
  return make(command, environment, true);
}

Result<StartedCommand> StartedCommand::start(const std::vector<std::string>& command,
                                             const std::vector<std::string>* environment) {
  ASSIGN_OR_RETURN(StartedCommand started, make(command, environment, false));
  started.is_let_go_ = true;
  RETURN_IF_ERROR(started.read_whether_it_runs());
  return started;
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
