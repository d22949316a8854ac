#include "collect/perf/perf_command.h"

#include <cerrno>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/time.h"
#include "recording/child_end.h"

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

/// Between fork and exec: only what is safe there. Descriptors of ours close themselves.
[[noreturn]] void run_child(int gate, int report, char* const* words) {
  uint64_t spin_ns = 0;
  if (!read_whole(gate, &spin_ns, sizeof spin_ns)) ::_exit(127);
  const uint64_t end_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID) + spin_ns;
  while (read_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns) continue;
  ::execvp(words[0], words);
  const int reason = errno;
  [[maybe_unused]] const ssize_t ignored = ::write(report, &reason, sizeof reason);
  ::_exit(127);
}

}  // namespace

PerfCommand::PerfCommand(std::string name, pid_t pid, Fd gate, Fd report)
    : name_(std::move(name)),
      pid_(pid),
      pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))),
      gate_(std::move(gate)),
      report_(std::move(report)) {}

Result<PerfCommand> PerfCommand::start(const std::vector<std::string>& command) {
  CHECK(!command.empty());
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  int gate[2];
  int report[2];
  if (::pipe2(gate, O_CLOEXEC) != 0) return errno_error("cannot make a pipe", errno);
  Fd gate_out(gate[0]);
  Fd gate_in(gate[1]);
  if (::pipe2(report, O_CLOEXEC) != 0) return errno_error("cannot make a pipe", errno);
  Fd report_out(report[0]);
  Fd report_in(report[1]);

  const pid_t pid = ::fork();
  if (pid < 0) return errno_error("cannot start a process", errno);
  if (pid == 0) {
    ::close(gate_in.get());  // else our death would not end the wait
    run_child(gate_out.get(), report_in.get(), words.data());
  }
  return PerfCommand(command[0], pid, std::move(gate_in), std::move(report_out));
}

PerfCommand::~PerfCommand() {
  if (!gate_ || is_let_go_) return;  // moved from, or running
  gate_.reset();
  wait();
}

Result<void> PerfCommand::let_go(uint64_t spin_ns) {
  is_let_go_ = true;
  if (::write(gate_.get(), &spin_ns, sizeof spin_ns) != sizeof spin_ns) {
    wait();
    return errno_error("cannot run '" + name_ + "'", errno);
  }
  int reason = 0;
  if (!read_whole(report_.get(), &reason, sizeof reason)) return {};
  wait();
  return errno_error("cannot run '" + name_ + "'", reason);
}

bool PerfCommand::has_ended() {
  if (!has_ended_) has_ended_ = wait_for_end(pid_, WNOHANG, &wait_status_, &usage_);
  return has_ended_;
}

void PerfCommand::wait() {
  if (!has_ended_) has_ended_ = wait_for_end(pid_, 0, &wait_status_, &usage_);
}

}  // namespace culprit
