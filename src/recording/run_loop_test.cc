// The loop with a source that only writes down what it is told. Times are lower bounds: a busy
// machine wakes late, never early.

#include "recording/run_loop.h"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "base/time.h"
#include "recording/signals.h"

namespace culprit {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr int kSkipped = 77;
const std::vector<std::string> kNoCommand;
const std::vector<pid_t> kNoPids;

class WritingSource final : public RunSource {
 public:
  void begin() override {
    begun_ns = monotonic_ns();
    calls += "begin ";
  }
  void take(uint64_t) override {
    ++takes;
    if (on_take) on_take();
  }
  [[nodiscard]] uint64_t next_take_ns(uint64_t now_ns) const override {
    return now_ns + take_every_ns;
  }
  [[nodiscard]] std::span<const int> descriptors() const override { return ready; }
  Result<void> flush(uint64_t) override {
    calls += "flush ";
    if (flush_fails) return Error{"disk full"};
    return {};
  }
  Result<void> end_epoch(uint64_t) override {
    calls += "epoch ";
    return {};
  }
  void end() override {
    ended_ns = monotonic_ns();
    calls += "end ";
  }

  std::string calls;
  uint64_t takes = 0;
  uint64_t begun_ns = 0;
  uint64_t ended_ns = 0;
  uint64_t take_every_ns = 10'000 * kMs;
  bool flush_fails = false;
  std::vector<int> ready;
  std::function<void()> on_take;
};

RunEnd run(WritingSource& source, const std::vector<std::string>& command, LoopOptions options) {
  RunTargets targets;
  EXPECT_TRUE(targets.prepare({command, kNoPids}));
  Result<RunEnd> end = run_loop(source, targets, options);
  EXPECT_TRUE(end);
  if (StartedCommand* const runs_on = targets.command(); runs_on && !runs_on->has_ended()) {
    ::kill(runs_on->pid(), SIGKILL);
    ::waitpid(runs_on->pid(), nullptr, 0);
  }
  return end ? *std::move(end) : RunEnd();
}

TEST(RunLoop, EndsWithItsCommandAndTellsHow) {
  WritingSource source;
  const RunEnd end = run(source, {"sh", "-c", "exit 7"}, {});
  EXPECT_EQ(source.calls, "begin end ");
  ASSERT_TRUE(end.wait_status);
  EXPECT_EQ(WEXITSTATUS(*end.wait_status), 7);
  EXPECT_EQ(end.command_wait_status(), *end.wait_status);
  EXPECT_FALSE(end.is_cut_short);
  EXPECT_TRUE(end.usage);
}

/// What keeps a CPU busy is another program's, though it is a child of ours: it ends later.
TEST(RunLoop, TellsWhatOthersHadOfTheCpusMeanwhile) {
  const pid_t other = ::fork();
  if (other == 0) {
    while (true) continue;
  }
  WritingSource source;
  const RunEnd end = run(source, {"sleep", "0.5"}, {});
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  culprit::Run told;
  end.describe(told);
  ASSERT_TRUE(told.others.other_programs_ns);
  EXPECT_GT(*told.others.other_programs_ns, static_cast<int64_t>(100 * kMs));
  EXPECT_TRUE(told.others.stolen_ns);
  const RunEnd cut = run(source, {"sleep", "0.1"}, {.duration_ns = 10 * kMs});
  cut.describe(told);
  EXPECT_FALSE(told.others.other_programs_ns);
}

TEST(RunLoop, CannotRunWhatIsNoProgram) {
  WritingSource source;
  RunTargets targets;
  ASSERT_TRUE(targets.prepare({{"/no/such/program"}, kNoPids}));
  const Result<RunEnd> end = run_loop(source, targets, {});
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().message, "cannot run '/no/such/program': No such file or directory");
}

TEST(RunLoop, BeginsAfterTheDelay) {
  WritingSource source;
  const RunEnd end = run(source, kNoCommand, {.delay_ns = 20 * kMs, .duration_ns = 40 * kMs});
  EXPECT_EQ(source.calls, "begin end ");
  EXPECT_GE(source.begun_ns - end.start_ns, 20 * kMs);
  EXPECT_GE(end.stop_ns - end.start_ns, 40 * kMs);
  EXPECT_TRUE(end.is_cut_short);
  EXPECT_EQ(end.command_wait_status(), 0);
}

TEST(RunLoop, EndsASourceThatNeverBegan) {
  WritingSource source;
  run(source, {"true"}, {.delay_ns = 60'000 * kMs});
  EXPECT_EQ(source.calls, "end ");
}

/// What is measured ends with the time; the command goes on, and how it ends is told.
TEST(RunLoop, WaitsForACommandThatOutlivesTheTime) {
  WritingSource source;
  const RunEnd end = run(source, {"sh", "-c", "sleep 0.6; exit 3"}, {.duration_ns = 10 * kMs});
  EXPECT_EQ(source.calls, "begin end ");
  EXPECT_LT(source.ended_ns, end.start_ns + 600 * kMs);
  EXPECT_EQ(end.stop_ns <= source.ended_ns, true);
  ASSERT_TRUE(end.wait_status);
  EXPECT_EQ(WEXITSTATUS(*end.wait_status), 3);
}

TEST(RunLoop, FlushesAgainAndAgain) {
  WritingSource source;
  run(source, {"sleep", "0.1"}, {.flush_every_ns = 10 * kMs});
  EXPECT_TRUE(source.calls.starts_with("begin flush flush ")) << source.calls;
  EXPECT_TRUE(source.calls.ends_with(" flush end ")) << source.calls;
}

TEST(RunLoop, EndsWhatCannotBeWrittenButNotTheCommand) {
  WritingSource source;
  source.flush_fails = true;
  const RunEnd end = run(source, {"sh", "-c", "sleep 0.1; exit 3"}, {.flush_every_ns = 10 * kMs});
  EXPECT_EQ(source.calls, "begin flush end ");
  ASSERT_FALSE(end.flushed);
  EXPECT_EQ(end.flushed.error().message, "disk full");
  ASSERT_TRUE(end.wait_status);
  EXPECT_EQ(WEXITSTATUS(*end.wait_status), 3);
}

TEST(RunLoop, TakesWhenSomethingIsReady) {
  WritingSource source;
  const Fd event(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  source.ready = {event.get()};
  EventControl control;
  source.on_take = [&] {
    if (source.takes < 2) return;  // the first one comes by itself
    uint64_t count = 0;
    EXPECT_EQ(::read(event.get(), &count, sizeof count), 8);
    control.ask_to_stop();
  };
  run(source, kNoCommand, {.control = &control});
  EXPECT_EQ(source.takes, 2u);
}

TEST(RunLoop, StopsWhenAnotherThreadAsks) {
  WritingSource source;
  EventControl control;
  std::thread other([&] {
    ::usleep(10'000);
    control.ask_to_stop();
  });
  const RunEnd end = run(source, {"sleep", "60"}, {.control = &control});
  other.join();
  EXPECT_EQ(source.calls, "begin end ");
  EXPECT_EQ(end.stop, StopRequest::at_once);
  // It still runs: it has no status of its own.
  EXPECT_FALSE(end.wait_status);
  EXPECT_EQ(end.command_wait_status(), SIGINT);
  culprit::Run row;
  end.describe(row);
  EXPECT_FALSE(row.wait_status);
  EXPECT_FALSE(row.cpu_time_ns);
}

TEST(RunLoop, GoesOnInANewEpoch) {
  WritingSource source;
  EventControl control;
  source.take_every_ns = kMs;
  source.on_take = [&] {
    if (source.takes == 1 || source.takes == 3) control.ask_for_new_epoch();
    if (source.takes == 5) control.ask_to_stop();
  };
  const RunEnd end = run(source, kNoCommand, {.control = &control});
  EXPECT_EQ(source.calls, "begin epoch epoch end ");
  culprit::Run last;
  end.describe(last);
  EXPECT_LT(end.start_ns, end.epoch_start_ns);
  EXPECT_EQ(last.duration_ns, static_cast<int64_t>(end.stop_ns - end.epoch_start_ns));
}

/// The first signal is the command's own, and it is waited for; the second is for us.
TEST(RunLoop, ASecondSignalDoesNotWaitForTheCommand) {
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const std::string ready = folder->path() + "/ready";
  WritingSource source;
  SignalGuard signals;
  source.take_every_ns = kMs;
  source.on_take = [&] {
    if (file_exists(ready)) ::kill(::getpid(), SIGINT);
  };
  const RunEnd end = run(source, {"sh", "-c", "trap '' INT; : > " + ready + "; exec sleep 60"},
                         {.control = &signals});
  EXPECT_EQ(end.stop, StopRequest::at_once);
  EXPECT_FALSE(end.wait_status);
  EXPECT_EQ(end.command_wait_status(), SIGINT);
}

/// It comes between the start of culprit and that of its command, which must not run on unheard.
TEST(RunLoop, ASignalBeforeTheCommandEndsIt) {
  WritingSource source;
  SignalGuard signals;
  ::kill(::getpid(), SIGTERM);
  const RunEnd end = run(source, {"sleep", "60"}, {.control = &signals});
  ASSERT_TRUE(end.wait_status);
  EXPECT_TRUE(WIFSIGNALED(*end.wait_status));
  EXPECT_EQ(WTERMSIG(*end.wait_status), SIGTERM);
}

TEST(RunTargets, EndWithTheLastOfSeveralProcesses) {
  std::vector<pid_t> pids;
  for (const unsigned microseconds : {20'000u, 60'000u}) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::usleep(microseconds);
      ::_exit(0);
    }
    pids.push_back(child);
  }
  WritingSource source;
  RunTargets targets;
  ASSERT_TRUE(targets.prepare({kNoCommand, pids}));
  const uint64_t start_ns = monotonic_ns();
  const Result<RunEnd> end = run_loop(source, targets, {});
  ASSERT_TRUE(end);
  EXPECT_FALSE(end->has_command);
  EXPECT_GE(end->stop_ns - start_ns, 40 * kMs);
  for (const pid_t pid : pids) ::waitpid(pid, nullptr, 0);
}

/// Refuses pidfd_open, as kernels before 5.3 and some containers do; for the calling process.
bool refuse_pidfds() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{std::size(code), code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(RunTargets, EndWithoutPidfdsToo) {
  const pid_t watcher = ::fork();
  if (watcher == 0) {
    ::alarm(20);  // instead of waiting for ever
    if (!refuse_pidfds()) ::_exit(kSkipped);
    const pid_t child = ::fork();
    if (child == 0) {
      ::usleep(30'000);
      ::_exit(0);
    }
    WritingSource source;
    RunTargets targets;
    if (!targets.prepare({kNoCommand, {child}})) ::_exit(2);
    if (targets.end_descriptors() != std::vector<int>{-1}) ::_exit(3);
    const Result<RunEnd> end = run_loop(source, targets, {});
    ::_exit(end && end->stop_ns - end->start_ns >= 10 * kMs ? 0 : 4);
  }
  int status = 0;
  ::waitpid(watcher, &status, 0);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  if (WEXITSTATUS(status) == kSkipped) GTEST_SKIP() << "no seccomp filters here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// proc(5): 3 is the state, 20 the number of threads.
TEST(IsEndedProcess, KnowsAZombieWhateverItsName) {
  const std::string numbers = " 1 1 1 0 -1 4 0 0 0 0 0 0 0 0 20 0 ";
  EXPECT_TRUE(is_ended_process("7 (a) R b) Z" + numbers + "1 0 9\n"));
  EXPECT_FALSE(is_ended_process("7 (a) Z b) R" + numbers + "1 0 9\n"));
  // The first thread has ended, another runs on.
  EXPECT_FALSE(is_ended_process("7 (leader) Z" + numbers + "2 0 9\n"));
  EXPECT_FALSE(is_ended_process(""));
  EXPECT_FALSE(is_ended_process("7 (cut"));
  EXPECT_FALSE(is_ended_process("7 (cut) Z"));
}

}  // namespace
}  // namespace culprit
