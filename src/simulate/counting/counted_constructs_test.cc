#include "simulate/counting/counted_constructs.h"

#include <array>
#include <filesystem>
#include <gtest/gtest.h>

namespace culprit::counting {
namespace {

using Place = ThreadConstructs::Place;

constexpr uint64_t kBody = 0x2000;

/// A program for x86-64 whose threads are told of step by step.
class Constructs : public testing::Test {
 protected:
  Constructs() {
    std::string name = testing::TempDir() + "culprit-constructs-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    EXPECT_TRUE(writer_.create(folder_, 0));
    constructs_.emplace(writer_, "x86_64");
  }
  ~Constructs() override { std::filesystem::remove_all(folder_); }

  struct Thread {
    ThreadConstructs constructs;
    size_t height = 1;
    std::array<uint64_t, 16> registers{};
  };

  /// Calls the function from `from`, which is where the call returns to.
  void call(Thread& thread, const char* function, uint64_t from = 0x105, uint64_t first = 0,
            uint64_t second = 0) {
    uint64_t& address = addresses_[function];
    if (address == 0) {
      address = 0x10000 + 16 * addresses_.size();
      constructs_->add_edge(address, openmp::find_runtime_call(function).value());
    }
    enter(thread, address, from, first, second);
  }
  void enter(Thread& thread, uint64_t address, uint64_t from = 0x777, uint64_t first = 0,
             uint64_t second = 0) {
    thread.registers[7] = first;   // rdi
    thread.registers[6] = second;  // rsi
    ++thread.height;
    const ConstructEdge* const edge = constructs_->find_edge(address);
    ASSERT_NE(edge, nullptr);
    constructs_->enter(thread.constructs, *edge, {from, thread.height, thread.registers.data(), 0},
                       changes_);
  }
  void leave(Thread& thread, uint64_t result = 0, size_t calls = 1) {
    thread.registers[0] = result;  // rax
    thread.height -= calls;
    if (!thread.constructs.is_any_over(thread.height)) return;
    constructs_->leave(thread.constructs, thread.height, thread.registers.data(), changes_);
  }
  void call_and_return(Thread& thread, const char* function, uint64_t from = 0x105,
                       uint64_t result = 0) {
    call(thread, function, from);
    leave(thread, result);
  }
  std::string_view kind(const Thread& thread) {
    const Place place = thread.constructs.place();
    return place.path == 0 ? "" : openmp::kind_word(writer_.region_path(place.path).kind);
  }
  static bool waits(const Thread& thread) { return thread.constructs.place().is_waiting; }

  CountsWriter writer_;
  std::optional<CountedConstructs> constructs_;
  CountedConstructs::Changes changes_;
  std::map<std::string, uint64_t> addresses_;
  std::string folder_;
};

TEST_F(Constructs, MembersOfATeamAreInItWhileTheyRunItsBody) {
  Thread primary, worker;
  call(primary, "GOMP_parallel", 0x105, kBody, 0x42);
  EXPECT_EQ(kind(primary), "parallel");
  EXPECT_TRUE(waits(primary));
  EXPECT_EQ(worker.constructs.place(), Place());

  enter(primary, kBody, 0x901, 0x42);
  enter(worker, kBody, 0x902, 0x42);
  EXPECT_FALSE(waits(primary));
  EXPECT_FALSE(waits(worker));
  EXPECT_EQ(worker.constructs.place(), primary.constructs.place());
  EXPECT_EQ(changes_.begun.size(), 2u);
  EXPECT_EQ(writer_.region_path(worker.constructs.path()).site, kBody);

  leave(worker);  // it waits for the next team
  EXPECT_EQ(kind(worker), "parallel");
  EXPECT_TRUE(waits(worker));
  leave(primary);
  EXPECT_TRUE(waits(primary));
  leave(primary);
  EXPECT_EQ(primary.constructs.place(), Place());
}

TEST_F(Constructs, TeamsOfOneBodyAreToldApartByTheirData) {
  Thread first, second, worker;
  call(first, "GOMP_critical_start", 0x50);
  leave(first);
  call(first, "GOMP_parallel", 0x105, kBody, 0x42);
  call(second, "GOMP_parallel", 0x105, kBody, 0x43);
  enter(worker, kBody, 0x902, 0x42);
  EXPECT_EQ(worker.constructs.place().path, first.constructs.place().path);
  EXPECT_NE(worker.constructs.place().path, second.constructs.place().path);
}

TEST_F(Constructs, CriticalSectionsAreWaitedForAndLeft) {
  Thread thread;
  call(thread, "GOMP_critical_start", 0x105);
  EXPECT_EQ(kind(thread), "critical");
  EXPECT_TRUE(waits(thread));
  EXPECT_TRUE(changes_.begun.empty());
  leave(thread);
  EXPECT_FALSE(waits(thread));
  EXPECT_EQ(changes_.begun, std::vector<uint32_t>{thread.constructs.path()});
  const uint32_t path = thread.constructs.path();
  EXPECT_EQ(writer_.region_path(path).site, 0x104u);
  call(thread, "GOMP_critical_end", 0x155);
  EXPECT_TRUE(waits(thread));
  leave(thread);
  EXPECT_EQ(thread.constructs.place(), Place());
  EXPECT_EQ(writer_.region_path(path).end, 0x154u);
}

TEST_F(Constructs, LoopsCountTheirChunks) {
  Thread thread;
  call_and_return(thread, "GOMP_loop_dynamic_start", 0x105, 1);
  EXPECT_EQ(kind(thread), "loop");
  call_and_return(thread, "GOMP_loop_dynamic_next", 0x115, 1);
  // Only the lowest byte of a bool is sure.
  call_and_return(thread, "GOMP_loop_dynamic_next", 0x115, 0xffff'ff00);
  call_and_return(thread, "GOMP_loop_end", 0x125);
  EXPECT_EQ(changes_.begun.size(), 1u);
  EXPECT_EQ(changes_.pieces.size(), 2u);
  EXPECT_EQ(thread.constructs.place(), Place());
}

// libgomp tells the end of a single by nothing but the barrier behind it.
TEST_F(Constructs, ABarrierEndsTheSingleOfItsFunction) {
  Thread executor, other;
  call_and_return(executor, "GOMP_single_start", 0x105, 1);
  EXPECT_EQ(kind(executor), "single");
  call(executor, "GOMP_barrier", 0x145);
  EXPECT_EQ(kind(executor), "single");
  EXPECT_TRUE(waits(executor));
  leave(executor);
  EXPECT_EQ(executor.constructs.place(), Place());

  call_and_return(other, "GOMP_single_start", 0x105, 0);
  EXPECT_EQ(other.constructs.place(), Place());
  call(other, "GOMP_barrier", 0x145);
  EXPECT_EQ(kind(other), "single");
  leave(other);
  call(other, "GOMP_barrier", 0x165);  // another one
  EXPECT_EQ(kind(other), "barrier");
}

TEST_F(Constructs, WhatIsLeftByAJumpIsOver) {
  Thread thread;
  thread.height = 5;
  call_and_return(thread, "GOMP_critical_start");
  call_and_return(thread, "GOMP_loop_dynamic_start", 0x205, 1);
  EXPECT_EQ(kind(thread), "loop");
  leave(thread, 0, 3);  // an exception, two functions above
  EXPECT_EQ(thread.constructs.place(), Place());
}

TEST_F(Constructs, LocksMayBeHeldBeyondTheirFunctionAndReleasedInAnyOrder) {
  Thread thread;
  thread.height = 5;
  call(thread, "omp_set_lock", 0x105, 0xa);
  EXPECT_TRUE(waits(thread));
  leave(thread);
  leave(thread);  // the function that took it
  call(thread, "omp_set_lock", 0x115, 0xb);
  leave(thread);
  const Place in_second = thread.constructs.place();
  EXPECT_EQ(kind(thread), "lock");
  call(thread, "omp_unset_lock", 0x125, 0xa);
  leave(thread);
  EXPECT_EQ(thread.constructs.place(), in_second);
  call(thread, "omp_unset_lock", 0x135, 0xb);
  leave(thread);
  EXPECT_EQ(thread.constructs.place(), Place());
}

TEST_F(Constructs, WhatARuntimeCallsItselfIsItsOwn) {
  Thread thread;
  call(thread, "GOMP_critical_start");
  const Place before = thread.constructs.place();
  call(thread, "__kmpc_critical", 0x9999);  // as LLVM's does
  EXPECT_EQ(thread.constructs.place(), before);
}

TEST_F(Constructs, RecursionIsOnePath) {
  Thread thread;
  for (int i = 0; i < 10; ++i) {
    call(thread, "GOMP_parallel", 0x105, kBody, 0x42);
    enter(thread, kBody, 0x901, 0x42);
  }
  EXPECT_EQ(writer_.header().region_paths.load(), 2u);  // with the place holder
}

TEST_F(Constructs, FunctionsAreConstructsWhileTheyRun) {
  constexpr uint64_t kFunction = 0x3000;
  constructs_->add_edge(kFunction, {.kind = CULPRIT_KIND_FUNCTION});
  Thread thread;
  enter(thread, kFunction);
  EXPECT_EQ(kind(thread), "function");
  EXPECT_FALSE(waits(thread));
  const Place inside = thread.constructs.place();
  EXPECT_EQ(writer_.region_path(inside.path).site, kFunction);
  call_and_return(thread, "GOMP_critical_start");
  EXPECT_EQ(writer_.region_path(thread.constructs.path()).parent, inside.path);
  call_and_return(thread, "GOMP_critical_end", 0x155);
  EXPECT_EQ(thread.constructs.place(), inside);
  leave(thread);
  EXPECT_EQ(thread.constructs.place(), Place());
}

TEST_F(Constructs, AJumpToTheBeginningOfAFunctionIsNoCall) {
  constexpr uint64_t kFunction = 0x3000;
  constructs_->add_edge(kFunction, {.kind = CULPRIT_KIND_FUNCTION});
  Thread thread;
  enter(thread, kFunction);
  --thread.height;  // the jump pushes nothing
  enter(thread, kFunction);
  EXPECT_EQ(changes_.begun.size(), 1u);
  enter(thread, kFunction);  // recursion
  EXPECT_EQ(changes_.begun.size(), 2u);
  leave(thread, 0, 2);
  EXPECT_EQ(thread.constructs.place(), Place());
}

TEST_F(Constructs, AFunctionThatIsABodyIsBoth) {
  constructs_->add_edge(kBody, {.kind = CULPRIT_KIND_FUNCTION});
  Thread thread;
  call(thread, "GOMP_parallel", 0x105, kBody, 0x42);
  enter(thread, kBody, 0x901, 0x42);
  EXPECT_EQ(kind(thread), "function");
  const uint32_t around = writer_.region_path(thread.constructs.path()).parent;
  EXPECT_EQ(openmp::kind_word(writer_.region_path(around).kind), "parallel");
  leave(thread, 0, 2);
  EXPECT_EQ(thread.constructs.place(), Place());
}

TEST_F(Constructs, SchedulesOfLlvmsLoopsAreArguments) {
  Thread thread;
  thread.registers[2] = 36;  // rdx: kmp_sch_guided_chunked
  call(thread, "__kmpc_dispatch_init_4");
  leave(thread);
  EXPECT_EQ(openmp::detail_word(writer_.region_path(thread.constructs.path()).detail), "guided");
  call_and_return(thread, "__kmpc_dispatch_next_4", 0x115, 1);
  EXPECT_EQ(kind(thread), "loop");
  call_and_return(thread, "__kmpc_dispatch_next_4", 0x115, 0);
  EXPECT_EQ(thread.constructs.place(), Place());
}

}  // namespace
}  // namespace culprit::counting
