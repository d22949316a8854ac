#include "collect/posix_timer_command.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect/guest/protocol.h"

namespace culprit {
namespace {

std::atomic<int> interruption_count = 0;
std::atomic<pid_t> interrupted_command = 0;
std::atomic<const SignalGuard*> living_guard = nullptr;

/// Our environment with the shim in it. LD_PRELOAD keeps what it had.
std::vector<std::string> make_environment(const ShimSettings& settings) {
  static constexpr std::string_view kOurs[] = {"LD_PRELOAD=", CULPRIT_ENV_FOLDER "=",
                                               CULPRIT_ENV_PERIOD "=", CULPRIT_ENV_STACKS "="};
  std::vector<std::string> environment;
  std::string preload = settings.shim_path;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (text.starts_with(kOurs[0]) && text.size() > kOurs[0].size()) {
      preload += ":" + std::string(text.substr(kOurs[0].size()));
    }
    const bool is_ours = std::any_of(std::begin(kOurs), std::end(kOurs),
                                     [&](std::string_view name) { return text.starts_with(name); });
    if (!is_ours) environment.emplace_back(text);
  }
  environment.push_back("LD_PRELOAD=" + preload);
  environment.push_back(CULPRIT_ENV_FOLDER "=" + settings.folder);
  environment.push_back(CULPRIT_ENV_PERIOD "=" + std::to_string(settings.period_ns));
  environment.push_back(CULPRIT_ENV_STACKS + std::string(settings.stacks ? "=1" : "=0"));
  return environment;
}

std::vector<char*> make_pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

extern "C" void pass_interruption_on(int signal_number, siginfo_t* info, void*) {
  const int saved_errno = errno;
  ++interruption_count;
  // From a terminal the kernel sends it to the whole group, the command included.
  const bool is_for_us_alone = info->si_code == SI_USER || info->si_code == SI_TKILL;
  const pid_t command = interrupted_command;
  if (is_for_us_alone && command > 0) ::kill(command, signal_number);
  errno = saved_errno;
}

}  // namespace

Result<ShimmedCommand> ShimmedCommand::start(const std::vector<std::string>& command,
                                             const ShimSettings& settings) {
  return start(command, make_environment(settings));
}

Result<ShimmedCommand> ShimmedCommand::start(const std::vector<std::string>& command,
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
  ShimmedCommand started(pid);
  if (got != sizeof reason) return started;
  while (!started.wait(1000)) continue;
  return errno_error("cannot run '" + command[0] + "'", reason);
}

ShimmedCommand::ShimmedCommand(pid_t pid)
    : pid_(pid), pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}

bool ShimmedCommand::has_ended() {
  if (!ended_) ended_ = ::wait4(pid_, &wait_status_, WNOHANG, &usage_) == pid_;
  return ended_;
}

bool ShimmedCommand::wait(int timeout_ms) {
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

SignalGuard::SignalGuard() {
  interruption_count = 0;
  struct sigaction action{};
  action.sa_sigaction = pass_interruption_on;
  action.sa_flags = SA_SIGINFO;  // no SA_RESTART: waiting ends at once
  ::sigaction(SIGINT, &action, &old_int_);
  ::sigaction(SIGTERM, &action, &old_term_);
  living_guard = this;
}

void SignalGuard::pass_on_to(pid_t command) {
  interrupted_command = command;
}

void SignalGuard::give_back_in_child() {
  const SignalGuard* const guard = living_guard;
  if (guard == nullptr) return;
  ::sigaction(SIGINT, &guard->old_int_, nullptr);
  ::sigaction(SIGTERM, &guard->old_term_, nullptr);
}

SignalGuard::~SignalGuard() {
  living_guard = nullptr;
  ::sigaction(SIGINT, &old_int_, nullptr);
  ::sigaction(SIGTERM, &old_term_, nullptr);
  interrupted_command = 0;
}

int SignalGuard::interruptions() {
  return interruption_count;
}

}  // namespace culprit
