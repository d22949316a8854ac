#include "simulate/turns/thread_activity.h"

#include <atomic>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace culprit::counting {
namespace {

using State = ThreadActivity::State;

// Linux 6.1 writes them so.
constexpr const char* kSleeping = "4711 (a) b) (c) S 1 4711 4711 0 -1 4194304 100 0";
constexpr const char* kFutex = "202 0x7f00c0de 0x80 0x2 0x0 0x0 0x0 0x7ffd1000 0x7f3f\n";

TEST(ThreadActivity, IsReadFromBothFiles) {
  EXPECT_EQ(parse_thread_activity(kSleeping, kFutex),
            (ThreadActivity{State::sleeping, 202, 0x7f00c0de}));
  EXPECT_EQ(parse_thread_activity("1 (x) S", "-1 0x7ffd 0x7f3f"),
            (ThreadActivity{State::sleeping, -1, 0x7ffd}));
}

TEST(ThreadActivity, OneThatIsBeingWokenIsAwakeThoughItStillShowsItsCall) {
  EXPECT_EQ(parse_thread_activity("4711 (a) R 1", kFutex).state, State::awake);
  EXPECT_EQ(parse_thread_activity("4711 (a) D 1", kFutex).state, State::awake);
  EXPECT_EQ(parse_thread_activity(kSleeping, "running\n").state, State::awake);
}

TEST(ThreadActivity, ZombieAndMissingAreGone) {
  EXPECT_EQ(parse_thread_activity("4711 (a) Z 1", "").state, State::gone);
  EXPECT_EQ(parse_thread_activity("", "").state, State::gone);
}

TEST(ThreadActivity, CutTextIsAwake) {
  const std::string_view stat = kSleeping;
  for (size_t size = 1; size <= stat.rfind(") "); ++size) {
    EXPECT_EQ(parse_thread_activity(stat.substr(0, size), kFutex).state, State::awake) << size;
  }
  EXPECT_EQ(parse_thread_activity("1 (x) ", kFutex).state, State::awake);
}

TEST(ThreadActivity, SleepIsKnownThoughTheCallIsNot) {
  EXPECT_EQ(parse_thread_activity(kSleeping, ""),
            (ThreadActivity{State::sleeping, ThreadActivity::kUnknownCall}));
  EXPECT_EQ(parse_thread_activity("4711 (a) R 1", "").state, State::awake);
}

TEST(ThreadActivity, KernelTellsInWhichCallAThreadSleeps) {
  if (!can_see_threads()) GTEST_SKIP() << "this kernel has no /proc/self/task/TID/syscall";
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::atomic<pid_t> id{0};
  std::thread reader([&] {
    id = ::gettid();
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), 1);
  });
  ThreadActivity seen;
  while (id == 0 || seen.state != State::sleeping || seen.call != SYS_read) {
    if (id != 0) seen = read_thread_activity(id);
  }
  EXPECT_EQ(seen.first_argument, static_cast<uint64_t>(ends[0]));
  EXPECT_EQ(::write(ends[1], "x", 1), 1);
  reader.join();
  while (read_thread_activity(id).state != State::gone) ::usleep(100);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace culprit::counting
