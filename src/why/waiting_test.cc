#include "why/waiting.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

TEST(FindWaitKind, KnowsTheKernelsFunctionsAndOthersNot) {
  EXPECT_EQ(find_wait_kind("do_nanosleep"), "sleep");
  EXPECT_EQ(find_wait_kind("futex_wait_queue"), "lock");
  EXPECT_EQ(find_wait_kind("anon_pipe_read"), "pipe");
  EXPECT_EQ(find_wait_kind("io_schedule"), "disk");
  EXPECT_EQ(find_wait_kind("__schedule"), "");
  EXPECT_EQ(find_wait_kind(""), "");
}

TEST(DescribeWaiting, SharesAreOfTheWholeAndAddUp) {
  WaitingTime time;
  time.on_cpu_ns = 2e9;
  time.waiting_ns = 7e9;
  time.preempted_ns = 1e9;
  time.kinds = {{"sleep", 6e9, "pace", 1.0}, {"lock", 0.95e9, "", 0}, {"pipe", 0.05e9, "f", 1.0}};
  EXPECT_EQ(describe_waiting(time),
            "of all threads, 10 s: 20.0 % on a CPU, 70.0 % waiting (sleep 60.0 %, 100 % of it in "
            "pace; lock 9.5 %), 10.0 % preempted. culprit report --off-cpu has the stacks.");
}

}  // namespace
}  // namespace culprit
