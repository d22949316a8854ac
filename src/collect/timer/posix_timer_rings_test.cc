// The shim and its host end together: real programs, sampled through the rings.
// What is expected comes from the kernel's own account of CPU time (wait4).

#include "collect/timer/posix_timer_rings.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <map>
#include <set>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/test_folders.h"
#include "base/test_priority.h"
#include "collect/timer/timer_test_programs.h"

namespace culprit {
namespace {

using namespace testing;

constexpr uint64_t kPeriodNs = 1'001'003;

struct Sample {
  uint64_t ip;
  uint32_t pid, tid;
  uint64_t time_ns, value_ns;
  std::vector<uint64_t> chain;
};

struct MappedPart {
  uint64_t start, length, offset;
  std::string path;
};

/// What the rings of one command held.
struct Observed {
  int status = 0;
  double user_s = 0;
  double system_s = 0;
  std::vector<Sample> samples;
  std::vector<MappedPart> mappings;
  std::map<uint32_t, int> records;  // by type
  bool in_order = true;
  TimerTotals totals;

  [[nodiscard]] double sampled_s() const {
    uint64_t sum_ns = 0;
    for (const Sample& sample : samples) sum_ns += sample.value_ns;
    return static_cast<double>(sum_ns) * 1e-9;
  }
  [[nodiscard]] double sampled_s(const std::string& path_end) const {
    uint64_t sum_ns = 0;
    for (const Sample& sample : samples) {
      for (const MappedPart& mapping : mappings) {
        if (sample.ip - mapping.start < mapping.length && mapping.path.ends_with(path_end)) {
          sum_ns += sample.value_ns;
          break;
        }
      }
    }
    return static_cast<double>(sum_ns) * 1e-9;
  }
};

template <class T>
T field(const TimerRecord& record, size_t offset) {
  T value{};
  if (offset + sizeof value <= record.bytes.size()) {
    std::memcpy(&value, record.bytes.data() + offset, sizeof value);
  }
  return value;
}

void observe(const TimerRecord& record, bool with_stacks, Observed& seen) {
  const auto header = field<perf_event_header>(record, 0);
  ++seen.records[header.type];
  if (header.type == PERF_RECORD_MMAP2) {
    seen.mappings.push_back({field<uint64_t>(record, 16), field<uint64_t>(record, 24),
                             field<uint64_t>(record, 32),
                             reinterpret_cast<const char*>(record.bytes.data() + 72)});
  }
  if (header.type != PERF_RECORD_SAMPLE) return;
  Sample sample{field<uint64_t>(record, 8),  field<uint32_t>(record, 16),
                field<uint32_t>(record, 20), field<uint64_t>(record, 24),
                field<uint64_t>(record, 32), {}};
  for (uint64_t i = 0; with_stacks && i < field<uint64_t>(record, 40); ++i) {
    sample.chain.push_back(field<uint64_t>(record, 48 + 8 * i));
  }
  seen.samples.push_back(sample);
}

class TimerShim : public ::testing::Test {
 protected:
  void SetUp() override {
    go_first();
    if (!file_exists(shim_)) GTEST_SKIP() << "libculprit_timer.so is not built here";
    Result<TemporaryFolder> made = TemporaryFolder::make();
    ASSERT_TRUE(made) << made.error().message;
    folder_.emplace(std::move(*made));
  }

  std::string compile(const std::string& name, const std::string& source,
                      const std::string& options = "") {
    const std::string path = folder_->path() + "/" + name;
    std::ofstream(path + ".c") << source;
    const std::string line = "cc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o " +
                             path + " " + path + ".c -pthread -ldl " + options;
    EXPECT_EQ(std::system(line.c_str()), 0) << line;
    return path;
  }

  Observed run(const std::vector<std::string>& command, bool with_stacks = false) {
    Observed seen;
    Result<TimerRings> rings = TimerRings::make(with_stacks);
    EXPECT_TRUE(rings) << rings.error().message;
    const pid_t child = fork();
    if (child == 0) {
      std::vector<char*> words;
      for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
      words.push_back(nullptr);
      setenv("LD_PRELOAD", shim_.c_str(), 1);
      setenv(CULPRIT_ENV_FOLDER, rings->folder().c_str(), 1);
      setenv(CULPRIT_ENV_PERIOD, std::to_string(kPeriodNs).c_str(), 1);
      if (with_stacks) setenv(CULPRIT_ENV_STACKS, "1", 1);
      execvp(words[0], words.data());
      _exit(125);
    }
    rings->expect(child);
    uint64_t last_ns = 0;
    const auto take = [&](const std::vector<TimerRecord>& records) {
      for (const TimerRecord& record : records) {
        if (record.time_ns < last_ns) seen.in_order = false;
        last_ns = record.time_ns;
        observe(record, with_stacks, seen);
      }
    };
    rusage usage{};
    while (wait4(child, &seen.status, WNOHANG, &usage) == 0) {
      timespec now{};
      clock_gettime(CLOCK_MONOTONIC, &now);
      take(rings->read(static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 +
                       static_cast<uint64_t>(now.tv_nsec)));
      usleep(20'000);
    }
    take(rings->read_rest());
    seen.totals = rings->totals();
    seen.user_s = static_cast<double>(usage.ru_utime.tv_sec) +
                  static_cast<double>(usage.ru_utime.tv_usec) * 1e-6;
    seen.system_s = static_cast<double>(usage.ru_stime.tv_sec) +
                    static_cast<double>(usage.ru_stime.tv_usec) * 1e-6;
    return seen;
  }

  /// All CPU time is in the samples, or known to have been the kernel's, but for one tick
  /// (10 ms at most) more or less for each thread: not less than the `spun_s` that the program
  /// takes by its own clock, nor more than the kernel's account, which has what comes before
  /// the shim, too (leaving our memory, loading).
  static void expect_time_adds_up(const Observed& seen, double threads, double spun_s) {
    const double found = seen.sampled_s() + static_cast<double>(seen.totals.kernel_ns) * 1e-9;
    EXPECT_LE(found, seen.user_s + seen.system_s + threads * 0.010 + 0.02);
    EXPECT_GE(found, spun_s - threads * 0.010 - 0.02);
    EXPECT_EQ(seen.totals.lost_samples, 0U);
    EXPECT_EQ(seen.totals.damaged, 0U);
    EXPECT_TRUE(seen.in_order);
  }

  std::string shim_ = binary_folder() + "/libculprit_timer.so";
  std::optional<TemporaryFolder> folder_;
};

TEST_F(TimerShim, SamplesAddUpToTheCpuTimeOfAProgram) {
  const Observed seen = run({compile("one", std::string(kSpin) + kOneThread)});
  EXPECT_EQ(WEXITSTATUS(seen.status), 7) << "the program's own status";
  expect_time_adds_up(seen, 1, 0.3);
  EXPECT_NEAR(seen.sampled_s("/one"), 0.3, 0.03);
  EXPECT_EQ(seen.records.at(PERF_RECORD_COMM), 1);
  EXPECT_EQ(seen.totals.rings, 1U);
}

TEST_F(TimerShim, EachThreadIsSampledByItsOwnTime) {
  const Observed seen = run({compile("threads", std::string(kSpin) + kThreads), "3", "0.15"});
  expect_time_adds_up(seen, 4, 3 * 0.15);
  std::map<uint32_t, uint64_t> by_thread;
  for (const Sample& sample : seen.samples) by_thread[sample.tid] += sample.value_ns;
  std::erase_if(by_thread, [&](const auto& entry) { return entry.first == seen.samples[0].pid; });
  ASSERT_EQ(by_thread.size(), 3U);
  for (const auto& [tid, value_ns] : by_thread) {
    // Some ticks hit the system call that asks for the time, and are not in the samples.
    EXPECT_NEAR(static_cast<double>(value_ns) * 1e-9, 0.15, 0.05) << "thread " << tid;
  }
  EXPECT_EQ(seen.records.at(PERF_RECORD_FORK), 3);
  EXPECT_EQ(seen.records.at(PERF_RECORD_EXIT), 3);
}

TEST_F(TimerShim, FollowsTwoHundredThreads) {
  const Observed seen = run({compile("many", std::string(kSpin) + kThreads), "200", "0.005"});
  EXPECT_EQ(seen.status, 0);
  EXPECT_EQ(seen.totals.rings, 201U);
  EXPECT_EQ(seen.records.at(PERF_RECORD_EXIT), 200);
  EXPECT_EQ(seen.totals.damaged, 0U);
}

// 100 threads of 5 ms, of which a tick of 4 ms sees one or two moments each: none is known
// well, their sum is. What is added is one tick for the two ends of each thread; without it
// the sum would come out at 0.3 s.
TEST_F(TimerShim, ShortThreadsCountByTheirTimeOnAverage) {
  const Observed seen =
      run({compile("turns", std::string(kSpin) + kThreadsInTurn), "100", "0.005"});
  const double found = seen.sampled_s() + static_cast<double>(seen.totals.kernel_ns) * 1e-9;
  EXPECT_NEAR(found, 0.5, 0.1);
}

TEST_F(TimerShim, FollowsForkAndExec) {
  const std::string program = compile("chain", std::string(kSpin) + kForkThenExec);
  const Observed seen = run({program});
  EXPECT_EQ(seen.status, 0);
  expect_time_adds_up(seen, 4, 2 * 0.15);
  std::map<uint32_t, uint64_t> by_process;
  for (const Sample& sample : seen.samples) by_process[sample.pid] += sample.value_ns;
  EXPECT_EQ(seen.records.at(PERF_RECORD_COMM), 2) << "the program and the one that was executed";
  size_t busy = 0;
  for (const auto& [pid, value_ns] : by_process) busy += value_ns > 100'000'000 ? 1 : 0;
  EXPECT_EQ(busy, 2U);
}

TEST_F(TimerShim, SpawnedProcessesBeginAndEnd) {
  const Observed seen = run({compile("spawns", std::string(kSpin) + kSpawn)});
  EXPECT_EQ(seen.status, 0);
  expect_time_adds_up(seen, 2, 2 * 0.15);
  EXPECT_EQ(seen.records.at(PERF_RECORD_COMM), 2);
  EXPECT_EQ(seen.records.at(PERF_RECORD_FORK), 1) << "of the child; the command is expected";
  EXPECT_EQ(seen.records.at(PERF_RECORD_EXIT), 1) << "of the child; the command ends last";
}

TEST_F(TimerShim, KeepsWhatWasSampledBeforeACrash) {
  const Observed seen = run({compile("crash", std::string(kSpin) + kCrash)});
  EXPECT_TRUE(WIFSIGNALED(seen.status));
  EXPECT_EQ(WTERMSIG(seen.status), SIGSEGV);
  EXPECT_NEAR(seen.sampled_s(), 0.2, 0.02);
}

TEST_F(TimerShim, SharesItsSignalWithAProgramThatProfilesItself) {
  const Observed seen = run({compile("own", std::string(kSpin) + kOwnProfiler)});
  EXPECT_EQ(WEXITSTATUS(seen.status), 0) << "1: it missed its signals, 2: it was told a lie";
  EXPECT_FALSE(WIFSIGNALED(seen.status));
  expect_time_adds_up(seen, 1, 0.3);
}

TEST_F(TimerShim, SamplesAProgramThatBlocksAllSignals) {
  const Observed seen = run({compile("blocks", std::string(kSpin) + kBlocksSignals)});
  EXPECT_EQ(seen.status, 0);
  expect_time_adds_up(seen, 1, 0.3);
}

TEST_F(TimerShim, ReportsLibrariesThatAreLoadedLater) {
  const std::string plugin =
      compile("plugin.so", std::string(kSpin) + kPlugin, "-shared -fPIC -fvisibility=hidden");
  const Observed seen = run({compile("loads", std::string(kSpin) + kLoadsPlugin), plugin});
  EXPECT_EQ(seen.status, 0);
  EXPECT_NEAR(seen.sampled_s("/plugin.so"), 0.3, 0.03);
}

TEST_F(TimerShim, CountsProgramsWhoseEnvironmentWasCleared) {
  const Observed seen = run({compile("clears", std::string(kSpin) + kClearsEnvironment)});
  EXPECT_EQ(seen.status, 0);
  EXPECT_EQ(seen.totals.unfollowed, 1U);
}

TEST_F(TimerShim, TellsSystemCallsFromTheProgramsOwnCode) {
  const Observed seen = run({compile("half", std::string(kSpin) + kHalfInKernel)});
  EXPECT_EQ(seen.status, 0);
  expect_time_adds_up(seen, 1, 2 * 0.2);
  EXPECT_NEAR(seen.sampled_s(), 0.2, 0.04);
  EXPECT_NEAR(static_cast<double>(seen.totals.kernel_ns) * 1e-9, 0.2, 0.04);
}

TEST_F(TimerShim, StacksLeadFromTheSampleToMain) {
  const Observed seen = run({compile("nested", std::string(kSpin) + kNested, "-no-pie")}, true);
  ASSERT_GT(seen.samples.size(), 20U);
  size_t deep = 0;
  for (const Sample& sample : seen.samples) {
    ASSERT_GE(sample.chain.size(), 2U);
    EXPECT_EQ(sample.chain[0], static_cast<uint64_t>(PERF_CONTEXT_USER));
    EXPECT_EQ(sample.chain[1], sample.ip);
    deep += sample.chain.size() >= 6 ? 1 : 0;  // marker, spin_in, inner, outer, main, libc
  }
  EXPECT_GE(deep * 10, seen.samples.size() * 9) << "of " << seen.samples.size();
}

TEST(TimerRings, LeaveADamagedRingAlone) {
  Result<TimerRings> rings = TimerRings::make(false);
  ASSERT_TRUE(rings);
  rings->expect(getpid());
  culprit_ring header{};
  header.magic = CULPRIT_RING_MAGIC;
  header.data_bytes = CULPRIT_RING_DATA_BYTES;
  header.pid = static_cast<uint32_t>(getpid());
  header.head = 64;
  std::string file(CULPRIT_RING_DATA_OFFSET + CULPRIT_RING_DATA_BYTES, '\0');
  const auto put = [&](const std::string& name) {
    std::memcpy(file.data(), &header, sizeof header);
    std::ofstream(rings->folder() + "/" + name + CULPRIT_RING_SUFFIX) << file;
  };
  put("1");  // a record of size 0
  header.head = UINT64_MAX - 7;
  put("2");  // more than fits
  header.head = 64;
  header.data_bytes = 1;
  put("3");  // a ring of another size
  header.data_bytes = CULPRIT_RING_DATA_BYTES;
  perf_event_header record{PERF_RECORD_SAMPLE, 0, 24};
  std::memcpy(file.data() + CULPRIT_RING_DATA_OFFSET, &record, sizeof record);
  put("4");  // a sample too short for its time
  file.resize(CULPRIT_RING_DATA_OFFSET + 16);
  put("5");  // cut short
  EXPECT_EQ(symlink("/etc/passwd", (rings->folder() + "/6.ring").c_str()), 0);
  EXPECT_TRUE(rings->read(1000).empty());
  EXPECT_TRUE(rings->read_rest().empty());
  EXPECT_EQ(rings->totals().damaged, 6U);
}

}  // namespace
}  // namespace culprit
