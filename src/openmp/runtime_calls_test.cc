#include "openmp/runtime_calls.h"

#include <gtest/gtest.h>

namespace culprit::openmp {
namespace {

TEST(RuntimeCalls, KnowLibgompsByName) {
  const auto loop = find_runtime_call("GOMP_loop_ull_nonmonotonic_guided_start");
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->step, Step::begins_work);
  EXPECT_EQ(kind_word(loop->kind), "loop");
  EXPECT_EQ(detail_word(loop->detail), "guided");

  const auto team = find_runtime_call("GOMP_parallel_loop_dynamic");
  ASSERT_TRUE(team);
  EXPECT_EQ(team->step, Step::runs_team);
  EXPECT_EQ(team->body, 0);  // void GOMP_parallel_loop_dynamic(void (*fn)(void *), ...)
  EXPECT_EQ(detail_word(team->loop), "dynamic");
}

TEST(RuntimeCalls, KnowLlvmsFamiliesByTheirBeginning) {
  for (const char* name : {"__kmpc_dispatch_init_4", "__kmpc_dispatch_init_8u"}) {
    const auto call = find_runtime_call(name);
    ASSERT_TRUE(call) << name;
    EXPECT_EQ(call->step, Step::begins_work);
    EXPECT_EQ(call->schedule, 2);  // (ident_t *loc, kmp_int32 gtid, enum sched_type schedule, ...)
  }
}

TEST(RuntimeCalls, LeaveOtherFunctionsAlone) {
  for (const char* name : {"", "main", "GOMP", "omp_get_thread_num", "my_GOMP_barrier"}) {
    EXPECT_FALSE(find_runtime_call(name)) << name;
  }
}

TEST(RuntimeCalls, OthersOfARuntimeBeginNothing) {
  for (const char* name : {"GOMP_target_ext", "__kmpc_dispatch_deinit", "__kmpc_omp_task"}) {
    const auto call = find_runtime_call(name);
    ASSERT_TRUE(call) << name;
    EXPECT_EQ(call->step, Step::works) << name;
  }
}

// kmp_sch_dynamic_chunked is 35, kmp_ord_dynamic_chunked 67, kmp_distribute_static 92; bit 29 is
// kmp_sch_modifier_monotonic.
TEST(RuntimeCalls, SchedulesAreLlvmsNumbers) {
  EXPECT_EQ(detail_word(find_schedule(34).detail), "static");
  EXPECT_EQ(detail_word(find_schedule(35).detail), "dynamic");
  EXPECT_EQ(detail_word(find_schedule(35 | 1u << 30).detail), "dynamic");
  EXPECT_EQ(detail_word(find_schedule(67).detail), "dynamic");
  EXPECT_EQ(detail_word(find_schedule(68).detail), "guided");
  EXPECT_TRUE(find_schedule(92).distributes);
  EXPECT_EQ(detail_word(find_schedule(4711).detail), "");
}

}  // namespace
}  // namespace culprit::openmp
