#include "records/process_table.h"

#include <gtest/gtest.h>
#include <map>

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

// task_tgid_nr_ns() and its kin: what has let go of its number has -1.
TEST(ProcessTable, AThreadWithoutANumberIsOneThatExits) {
  ProcessTable tasks(true);
  ProfileBuilder builder;
  builder.profile().runs.emplace_back();
  ProcessTable::Process& process = tasks.add(kPid, 1, "program");
  tasks.context(process, kPid, Mode::user, builder);
  tasks.context(process, UINT32_MAX, Mode::kernel, builder);
  const Profile& profile = builder.profile();
  ASSERT_EQ(profile.threads.size(), 2u);
  EXPECT_EQ(profile.threads[1].tid, 0u);
  EXPECT_EQ(profile.strings.text(profile.threads[1].name), "[exiting]");
}

/// The threads' ordinals, by tid.
std::map<uint32_t, uint32_t> ordinals(ProcessTable& tasks, uint32_t pid,
                                      std::initializer_list<uint32_t> tids) {
  ProfileBuilder builder;
  for (const uint32_t tid : tids) tasks.context(*tasks.find(pid), tid, Mode::user, builder);
  std::map<uint32_t, uint32_t> found;
  for (const Thread& thread : builder.profile().threads) found[thread.tid] = thread.ordinal;
  return found;
}

// Samples come in any order, and not of each thread; each fork may be told twice.
TEST(ProcessTable, KnowsInWhichOrderThreadsBeganOfProcessesThatItSawBegin) {
  ProcessTable tasks(true);
  tasks.add(kPid, 1, "shell");
  tasks.exec(*tasks.find(kPid), "program");
  for (const uint32_t tid : {kPid + 5, kPid + 6, kPid + 6, kPid + 7}) {
    tasks.fork(fork_of(kPid, kPid, tid, tid * kSecondNs));
  }
  const std::map<uint32_t, uint32_t> expected = {{kPid, 1}, {kPid + 5, 2}, {kPid + 7, 4}};
  EXPECT_EQ(ordinals(tasks, kPid, {kPid + 7, kPid, kPid + 5}), expected);
  // A child's begin anew, and so do those of a new program.
  tasks.fork(fork_of(kPid, kPid + 9, kPid + 9, 900 * kSecondNs));
  tasks.fork(fork_of(kPid + 9, kPid + 9, kPid + 10, 901 * kSecondNs));
  EXPECT_EQ(ordinals(tasks, kPid + 9, {kPid + 9, kPid + 10}),
            (std::map<uint32_t, uint32_t>{{kPid + 9, 1}, {kPid + 10, 2}}));
  // This one ran before.
  ProcessTable attached(true);
  attached.add(kPid, 1, "program");
  attached.fork(fork_of(kPid, kPid, kPid + 1, kSecondNs));
  EXPECT_EQ(ordinals(attached, kPid, {kPid, kPid + 1}),
            (std::map<uint32_t, uint32_t>{{kPid, 0}, {kPid + 1, 0}}));
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

/// Tasks outlive a run, their rows do not: a run has rows of its own, up to its own limit.
TEST(ProcessTable, LetsGoOfTheRowsOfARunThatEnded) {
  ProcessTable tasks(true);
  ProfileBuilder builder;
  const Profile& profile = builder.profile();
  const auto sample = [&](uint32_t pid) {
    return profile.contexts[tasks.context(*tasks.find(pid), pid, Mode::user, builder).value];
  };
  const auto run_of = [&](const Context& context) {
    EXPECT_EQ(profile.threads[context.thread.value].process, context.process);
    EXPECT_EQ(profile.processes[context.process.value].run, context.run);
    return context.run.value;
  };
  builder.begin_run();
  const auto rows = static_cast<uint32_t>(ProcessTable::kMaxProcessRows);
  for (uint32_t pid = kPid; pid <= kPid + rows; ++pid) {
    tasks.add(pid, 1, "program");
    EXPECT_EQ(run_of(sample(pid)), 0u);
  }
  EXPECT_EQ(profile.processes.back().pid, 0u);  // one row for those past the limit
  builder.begin_run();
  tasks.begin_run(builder);
  const Context again = sample(kPid + rows);
  EXPECT_EQ(run_of(again), 1u);
  EXPECT_EQ(profile.processes[again.process.value].pid, kPid + rows);
  EXPECT_EQ(run_of(sample(kPid)), 1u);
  EXPECT_EQ(profile.processes.size(), rows + 1u + 2u);
}

}  // namespace
}  // namespace culprit
