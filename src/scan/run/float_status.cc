#include "scan/run/float_status.h"

#include <fmt/format.h>

#include "base/text.h"

#if defined(__x86_64__)
#include <cerrno>
#include <csignal>
#include <ctime>
#include <set>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exec_command.h"
#include "base/file.h"
#include "base/time.h"
#include "base/wait_status.h"
#include "records/proc_text.h"
#endif

namespace culprit::scan {

std::string float_event_name(FloatEvent event) {
  switch (event) {
    case FloatEvent::invalid:
      return "invalid operation";
    case FloatEvent::denormal_operand:
      return "denormal operand";
    case FloatEvent::division_by_zero:
      return "division by zero";
    case FloatEvent::overflow:
      return "overflow";
    case FloatEvent::underflow:
      return "underflow";
  }
  return "";
}

#if defined(__x86_64__)

namespace {

constexpr FloatEvent kEvents[] = {FloatEvent::invalid, FloatEvent::division_by_zero,
                                  FloatEvent::overflow, FloatEvent::underflow,
                                  FloatEvent::denormal_operand};

/// The masks stand in MXCSR so far above the status.
constexpr unsigned kMaskShift = 7;

/// A command that is traced from its first instruction on, with all that it starts.
class TracedRun {
 public:
  /// `trapped`: bits of MXCSR whose operations stop it; 0: none.
  TracedRun(const std::vector<std::string>& command, uint32_t trapped, uint64_t limit_ns)
      : command_(command), trapped_(trapped), limit_ns_(limit_ns) {}
  TracedRun(const TracedRun&) = delete;
  TracedRun& operator=(const TracedRun&) = delete;
  ~TracedRun() { end_all(); }

  /// Until it has ended, or a trap stopped it.
  Result<void> run();

  [[nodiscard]] uint32_t status() const { return status_; }
  [[nodiscard]] const std::string& trap_path() const { return trap_path_; }
  [[nodiscard]] uint64_t trap_offset() const { return trap_offset_; }

 private:
  Result<void> start();
  Result<void> handle(pid_t task, int wait_status);
  void handle_stop(pid_t task, int wait_status);
  void set_traps(pid_t task) const;
  void read_status(pid_t task);
  void find_trap(pid_t task);
  void end_all();

  const std::vector<std::string>& command_;
  const uint32_t trapped_;
  const uint64_t limit_ns_;
  pid_t first_ = -1;
  std::set<pid_t> tasks_;
  uint32_t status_ = 0;
  bool is_trapped_ = false;
  std::string trap_path_;
  uint64_t trap_offset_ = 0;
};

Result<void> TracedRun::start() {
  const ExecCommand command(command_);
  // It takes our memory until its exec: a copy would cost more than a short program.
  first_ = ::vfork();
  if (first_ < 0) return errno_error("cannot start a process", errno);
  if (first_ == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(126);
    static_cast<void>(command.exec(environ));
    ::_exit(127);
  }
  tasks_.insert(first_);
  // A traced program stops behind its exec.
  int wait_status = 0;
  pid_t got = 0;
  do {
    got = ::waitpid(first_, &wait_status, __WALL);
  } while (got < 0 && errno == EINTR);
  if (got != first_ || !WIFSTOPPED(wait_status)) {
    tasks_.clear();
    const bool is_refused = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 126;
    return Error{is_refused ? "this system does not let us trace our own children"
                            : "this machine cannot run it natively"};
  }
  const uintptr_t options = PTRACE_O_EXITKILL | PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC |
                            PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
  if (::ptrace(PTRACE_SETOPTIONS, first_, nullptr, options) != 0) {
    return errno_error("cannot trace it", errno);
  }
  set_traps(first_);
  ::ptrace(PTRACE_CONT, first_, nullptr, nullptr);
  return {};
}

void TracedRun::set_traps(pid_t task) const {
  user_fpregs_struct registers{};
  if (trapped_ == 0 || ::ptrace(PTRACE_GETFPREGS, task, nullptr, &registers) != 0) return;
  registers.mxcsr &= ~(trapped_ << kMaskShift);
  ::ptrace(PTRACE_SETFPREGS, task, nullptr, &registers);
}

void TracedRun::read_status(pid_t task) {
  user_fpregs_struct registers{};
  if (::ptrace(PTRACE_GETFPREGS, task, nullptr, &registers) != 0) return;
  status_ |= registers.mxcsr | registers.swd;
}

void TracedRun::find_trap(pid_t task) {
  is_trapped_ = true;
  user_regs_struct registers{};
  if (::ptrace(PTRACE_GETREGS, task, nullptr, &registers) != 0) return;
  const Result<std::string> maps = read_file(fmt::format("/proc/{}/maps", task));
  if (!maps) return;
  for (const ProcMapping& one : parse_proc_maps(*maps)) {
    if (registers.rip < one.start.value || registers.rip >= one.end.value) continue;
    trap_path_ = one.path;
    trap_offset_ = registers.rip - one.start.value + one.file_offset;
  }
}

void TracedRun::handle_stop(pid_t task, int wait_status) {
  const int signal = WSTOPSIG(wait_status);
  const int event = wait_status >> 16;
  if (event == PTRACE_EVENT_EXIT) read_status(task);
  if (event == PTRACE_EVENT_EXEC) set_traps(task);
  if (event == 0 && signal == SIGFPE && trapped_ != 0) {
    find_trap(task);
    return;
  }
  // A new task begins with a SIGSTOP that is ours.
  const bool is_new = tasks_.insert(task).second;
  const bool is_ours = event != 0 || (is_new && signal == SIGSTOP) || signal == SIGTRAP;
  ::ptrace(PTRACE_CONT, task, nullptr, static_cast<uintptr_t>(is_ours ? 0 : signal));
}

Result<void> TracedRun::handle(pid_t task, int wait_status) {
  if (WIFSTOPPED(wait_status)) {
    handle_stop(task, wait_status);
    return {};
  }
  tasks_.erase(task);
  if (task != first_ || wait_status == 0) return {};
  return Error{fmt::format("natively it ends with {}", describe_wait_status(wait_status))};
}

Result<void> TracedRun::run() {
  RETURN_IF_ERROR(start());
  const uint64_t start_ns = monotonic_ns();
  while (!tasks_.empty() && !is_trapped_) {
    int wait_status = 0;
    const pid_t task = ::waitpid(-1, &wait_status, __WALL | WNOHANG);
    if (task > 0) {
      RETURN_IF_ERROR(handle(task, wait_status));
    } else if (task < 0 && errno != EINTR) {
      break;  // nothing is left
    } else if (monotonic_ns() - start_ns > limit_ns_) {
      return Error{fmt::format("natively it does not end within {} s", limit_ns_ / 1'000'000'000)};
    } else {
      const timespec pause{0, 200'000};
      ::nanosleep(&pause, nullptr);
    }
  }
  return {};
}

void TracedRun::end_all() {
  for (const pid_t task : tasks_) ::kill(task, SIGKILL);
  for (const pid_t task : tasks_) {
    // A task that stops for its exit on the way must be let go.
    int wait_status = 0;
    while (::waitpid(task, &wait_status, __WALL) == task && WIFSTOPPED(wait_status)) {
      ::ptrace(PTRACE_CONT, task, nullptr, nullptr);
    }
  }
}

}  // namespace

Result<std::vector<FloatEventPlace>> watch_float_events(const std::vector<std::string>& command,
                                                        uint64_t limit_ns) {
  TracedRun whole(command, 0, limit_ns);
  RETURN_IF_ERROR(whole.run());
  std::vector<FloatEventPlace> found;
  for (const FloatEvent event : kEvents) {
    const auto bit = static_cast<uint32_t>(event);
    if ((whole.status() & bit) == 0) continue;
    TracedRun until_first(command, bit, limit_ns);
    // Without a place it is known all the same.
    const Result<void> ended = until_first.run();
    found.push_back({event, ended ? until_first.trap_path() : "", until_first.trap_offset()});
  }
  return found;
}

#else

Result<std::vector<FloatEventPlace>> watch_float_events(const std::vector<std::string>& /*command*/,
                                                        uint64_t /*limit_ns*/) {
  return Error{"the status of floating-point operations is read on x86-64 only"};
}

#endif

}  // namespace culprit::scan
