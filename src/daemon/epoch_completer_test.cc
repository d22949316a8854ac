#include "daemon/epoch_completer.h"

#include <array>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "base/file.h"
#include "base/time.h"

namespace culprit {
namespace {

constexpr uint64_t kMillisecondNs = 1'000'000;

/// What reap() says once the child is gone; "" where it is content.
std::string wait_for_child(EpochCompleter& completer) {
  const uint64_t end_ns = read_clock_ns(CLOCK_MONOTONIC) + 20'000 * kMillisecondNs;
  while (read_clock_ns(CLOCK_MONOTONIC) < end_ns) {
    if (const Result<void> done = completer.reap(); !done) return done.error().message;
    if (!completer.is_busy()) return "";
    ::usleep(2000);
  }
  return "still busy";
}

TEST(EpochCompleter, EndsAChildThatHangsAndBeginsTheNext) {
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  DaemonOptions options;
  options.complete = [](const ClosedEpoch& epoch) {
    if (epoch.path == "hangs") ::pause();
  };
  EpochCompleter completer(options, folder->path(), 200 * kMillisecondNs);
  ASSERT_TRUE(completer.add({.path = "hangs", .facts_folder = "", .held = {}}));
  ASSERT_TRUE(completer.add({.path = "does not", .facts_folder = "", .held = {}}));
  EXPECT_NE(wait_for_child(completer).find("took too long"), std::string::npos);
  EXPECT_TRUE(completer.is_busy());  // the second
  completer.stop();
  EXPECT_FALSE(completer.is_busy());
}

/// The caller cannot be reaped by its parent before somebody else has seen its end, who looks at
/// nothing until `until` is readable, or for `seconds`. Writes to `told` whether that can be had.
void delay_own_end(int told, int until, unsigned seconds) {
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  const pid_t self = ::getpid();
  if (::fork() == 0) {
    const bool can = ::ptrace(PTRACE_SEIZE, self, nullptr, nullptr) == 0;
    [[maybe_unused]] const ssize_t said = ::write(told, can ? "y" : "n", 1);
    char byte = 0;
    ::alarm(seconds);
    [[maybe_unused]] const ssize_t got = ::read(until, &byte, 1);
    ::_exit(0);
  }
  while (true) ::pause();
}

TEST(EpochCompleter, DoesNotWaitForAnEndThatTakesLong) {
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  std::array<int, 2> told{};
  std::array<int, 2> until{};
  ASSERT_EQ(::pipe(told.data()), 0);
  ASSERT_EQ(::pipe(until.data()), 0);
  DaemonOptions options;
  options.complete = [&](const ClosedEpoch&) { delay_own_end(told[1], until[0], 20); };
  EpochCompleter completer(options, folder->path());
  ClosedEpoch epoch{.path = "hangs", .facts_folder = "", .held = {}};
  epoch.held.emplace(ImageId(size_t{0}), Fd(told[1]));  // what is held stays open in the child
  epoch.held.emplace(ImageId(size_t{1}), Fd(until[0]));
  ASSERT_TRUE(completer.add(std::move(epoch)));
  char can = 0;
  ASSERT_EQ(::read(told[0], &can, 1), 1);
  const uint64_t began_ns = read_clock_ns(CLOCK_MONOTONIC);
  completer.stop();
  const uint64_t took_ns = read_clock_ns(CLOCK_MONOTONIC) - began_ns;
  ASSERT_EQ(::write(until[1], "", 1), 1);
  ::close(told[0]);
  ::close(until[1]);
  if (can == 'n') GTEST_SKIP() << "needs the right to trace a process of its own";
  EXPECT_FALSE(completer.is_busy());
  EXPECT_LT(took_ns, 10'000 * kMillisecondNs);  // the end takes 20 seconds
}

TEST(EpochCompleter, IsContentWithOneThatEnds) {
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  DaemonOptions options;
  EpochCompleter completer(options, folder->path());
  ASSERT_TRUE(completer.add({.path = "nothing there", .facts_folder = "", .held = {}}));
  EXPECT_EQ(wait_for_child(completer), "");
}

}  // namespace
}  // namespace culprit
