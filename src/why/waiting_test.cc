#include "why/waiting.h"

#include <gtest/gtest.h>

#include "attribute/test_profile.h"
#include "model/off_cpu_events.h"

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

// grind (0x214) calls code of a system's header (0x310), which waits in libc's pthread_mutex_lock.
TEST(FindWaiting, NamesTheProgramsOwnSourcesNotHeadersOfTheSystem) {
  TestProfile test = make_test_profile();
  Profile& profile = test.profile;
  const ImageId mill(0u);
  const ImageId libc(1u);
  ImageFacts& facts = test.facts[libc];
  facts.functions = {
      {FileOffset(0), FileOffset(0x100), facts.strings.intern("pthread_mutex_lock"), {}, {}, 0}};
  for (const std::string_view name : {kOffCpuEvent, kPreemptedEvent}) {
    Event event;
    event.name = profile.strings.intern(name);
    event.unit = Unit::ns;
    profile.events.push_back(event);
  }
  profile.stacks = {{StackId(), {mill, FileOffset(0x214)}},
                    {StackId(0u), {mill, FileOffset(0x310)}},
                    {StackId(1u), {libc, FileOffset(0x40)}}};
  profile.stack_counts = {{ContextId(0u), StackId(2u), {EventId(1u), 1, 5'000'000, 0}}};
  const std::optional<WaitingTime> time = find_waiting(profile, test.lookup());
  ASSERT_TRUE(time);
  ASSERT_EQ(time->kinds.size(), 1u);
  EXPECT_EQ(time->kinds[0].kind, "lock");
  EXPECT_EQ(time->kinds[0].function, "grind");
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

/// Three threads on a lock, the holder of which sleeps: 60 naps of 20 ms each in 3.78 s.
WaitingTime make_paced() {
  WaitingTime time;
  time.on_cpu_ns = 0.14e9;
  time.waiting_ns = 14.4e9;
  time.wall_ns = 3.78e9;
  time.kinds = {{"lock", 7.0e9, "worker", 1.0},
                {"end of a thread", 3.77e9, "main", 1.0},
                {"sleep", 3.63e9, "pace", 1.0}};
  return time;
}

TEST(WhatHoldsUp, IsOutsideOfTheProgram) {
  const WaitingTime time = make_paced();
  EXPECT_DOUBLE_EQ(time.idle_ns(), 3.64e9);
  const WaitKind* const kind = find_what_holds_up(time);
  ASSERT_NE(kind, nullptr);
  EXPECT_EQ(kind->kind, "sleep");
  EXPECT_TRUE(explains_idle_time(time, *kind));
  EXPECT_EQ(describe_idle_time(time, *kind),
            "for 96 % of the wall time no thread runs: sleep has 96 %, in pace. Wait for the event "
            "itself (a condition, poll), or for less time.");
}

TEST(WhatHoldsUp, IsUnsureWhereSeveralThingsAreWaitedForAtOnce) {
  WaitingTime time = make_paced();
  time.kinds.push_back({"disk", 1.0e9, "load", 1.0});
  EXPECT_FALSE(explains_idle_time(time, *find_what_holds_up(time)));
  time.kinds = {{"lock", 7.0e9, "worker", 1.0}};
  ASSERT_NE(find_what_holds_up(time), nullptr);
  EXPECT_EQ(find_what_holds_up(time)->kind, "lock");
  EXPECT_FALSE(explains_idle_time(time, time.kinds.front()));
}

TEST(WhatHoldsUp, IsNothingWhereAThreadRunsOrCould) {
  WaitingTime time = make_paced();
  time.on_cpu_ns = 2.0e9;
  EXPECT_EQ(find_what_holds_up(time), nullptr);
  time = make_paced();
  time.preempted_ns = 2.0e9;
  EXPECT_EQ(find_what_holds_up(time), nullptr);
  time = make_paced();
  time.wall_ns = 0;  // a part
  EXPECT_EQ(find_what_holds_up(time), nullptr);
}

}  // namespace
}  // namespace culprit
