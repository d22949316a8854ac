#include "records/process_table.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

constexpr uint32_t kPid = 100;
constexpr uint64_t kSecondNs = 1'000'000'000;

ForkRecord fork_of(uint32_t parent, uint32_t pid, uint32_t tid, uint64_t time_ns) {
  ForkRecord record;
  record.pid = pid;
  record.parent_pid = parent;
  record.tid = tid;
  record.parent_tid = parent;
  record.time_ns = time_ns;
  return record;
}

// exit(2): a process lives as long as one of its threads.
TEST(ProcessTable, KeepsAProcessWhoseOlderThreadsExit) {
  ProcessTable tasks(true);
  ProfileBuilder builder;
  builder.profile().runs.emplace_back();
  ProcessTable::Process& process = tasks.add(kPid, 1, "python3");
  // perf record -p: threads that ran before are known by their names alone, or not at all.
  tasks.rename(process, kPid + 1, "worker", builder);
  tasks.exit(process, kPid + 1, kSecondNs);
  tasks.exit(process, kPid + 2, kSecondNs);
  EXPECT_EQ(tasks.take_ended(10 * kSecondNs), 0u);
  ASSERT_NE(tasks.find(kPid), nullptr);
  EXPECT_EQ(tasks.find(kPid)->name, "python3");
  tasks.exit(process, kPid, 11 * kSecondNs);
  EXPECT_EQ(tasks.take_ended(20 * kSecondNs), kPid);
  EXPECT_EQ(tasks.find(kPid), nullptr);
}

// Each event of a recording tells of it: perf_event_open(2), `task`.
TEST(ProcessTable, CountsAnExitOnceThatIsToldTwice) {
  ProcessTable tasks(true);
  ProcessTable::Process& process = tasks.add(kPid, 1, "program");
  tasks.fork(fork_of(kPid, kPid, kPid + 1, 5));
  tasks.exit(process, kPid, kSecondNs);
  tasks.exit(process, kPid, kSecondNs + 7);
  EXPECT_EQ(tasks.take_ended(10 * kSecondNs), 0u);
  EXPECT_NE(tasks.find(kPid), nullptr);
}

TEST(ProcessTable, KeepsWhatAForkedProcessIsWhenItsForkIsToldTwice) {
  ProcessTable tasks(true);
  tasks.add(kPid, 1, "parent");
  ASSERT_NE(tasks.fork(fork_of(kPid, kPid + 1, kPid + 1, kSecondNs)), nullptr);
  ProfileBuilder builder;
  tasks.rename(*tasks.find(kPid + 1), kPid + 1, "child", builder);
  EXPECT_TRUE(tasks.is_known(fork_of(kPid, kPid + 1, kPid + 1, kSecondNs + 400)));
  tasks.fork(fork_of(kPid, kPid + 1, kPid + 1, kSecondNs + 400));
  EXPECT_EQ(tasks.find(kPid + 1)->name, "child");
  // The number is used again.
  tasks.fork(fork_of(kPid, kPid + 1, kPid + 1, 5 * kSecondNs));
  EXPECT_EQ(tasks.find(kPid + 1)->name, "parent");
}

}  // namespace
}  // namespace culprit
