// Whole recordings of small programs that this test compiles. The programs burn known CPU
// time by their own clock; rusage, as the kernel counts it, is the judge.

#include "collect/record.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/test_priority.h"
#include "collect/perf/perf_attr.h"
#include "collect/perf_losses.h"
#include "collect/record_test_program.h"

namespace culprit {
namespace {

/// A folder with the program, compiled once.
const std::string& program() {
  static const Result<TemporaryFolder> folder = TemporaryFolder::make();
  static const std::string path = [] {
    if (!folder) return std::string();
    const std::string source = folder->path() + "/burn.c";
    const std::string binary = folder->path() + "/burn";
    std::ofstream(source) << testing::kBurnSource;
    const std::string command =
        "cc -O1 -g -fno-omit-frame-pointer -pthread -o " + binary + " " + source;
    return std::system(command.c_str()) == 0 ? binary : std::string();
  }();
  return path;
}

bool may_sample(bool per_cpu) {
  const SampledEvent event = make_clock_event(1'000'000, false, false);
  SamplingSetup setup;
  setup.per_cpu = per_cpu;
  PerfFeatures features;
  do {
    const perf_event_attr attr = make_sampling_attr(event, setup, features, true, true);
    if (open_perf_event(attr, per_cpu ? -1 : 0, per_cpu ? 0 : -1)) return true;
  } while (features.shed());
  return false;
}

/// All counts of a recording, by what the tests ask for.
struct Seen {
  Recording recording;
  uint64_t counted = 0;
  uint64_t counted_value = 0;
  uint64_t stack_samples = 0;
  std::map<std::string, uint64_t> by_image;
  std::map<std::string, uint64_t> by_thread;
  std::map<std::string, uint64_t> by_process;
  uint64_t deepest = 0;

  void add(const Profile& profile) {
    for (const Histogram& histogram : profile.histograms) {
      const Context& context = profile.contexts[histogram.context.value];
      const auto text = [&](StringId id) { return profile.strings.text(id); };
      for (const EventColumn& column : histogram.columns) {
        for (size_t i = 0; i < column.samples.size(); ++i) {
          counted += column.samples[i];
          counted_value += column.value[i];
          by_image[text(profile.images[histogram.image.value].path)] += column.samples[i];
          by_thread[text(profile.threads[context.thread.value].name)] += column.samples[i];
          by_process[text(profile.processes[context.process.value].name)] += column.samples[i];
        }
      }
    }
    for (const StackCount& count : profile.stack_counts) {
      stack_samples += count.cell.samples;
      uint64_t depth = 0;
      for (StackId at = count.stack; !at.is_all(); at = profile.stacks[at.value].parent) ++depth;
      deepest = std::max(deepest, depth);
    }
  }
};

std::optional<Seen> record_program(RecordOptions options, std::vector<std::string> arguments) {
  options.command = std::move(arguments);
  options.command.insert(options.command.begin(), program());
  options.engine = EngineChoice::timer;
  Seen seen;
  Result<Recording> recording = record(
      options,
      [&](const Profile& profile) {
        seen.add(profile);
        return Result<void>();
      },
      nullptr);
  if (!recording) {
    ADD_FAILURE() << recording.error().message;
    return std::nullopt;
  }
  seen.recording = *std::move(recording);
  seen.add(seen.recording.profile);
  return seen;
}

double sampled_s(const Seen& seen) {
  return static_cast<double>(seen.counted_value) * 1e-9;
}
double cpu_s(const Seen& seen) {
  return static_cast<double>(seen.recording.profile.runs[0].cpu_time_ns.value_or(0)) * 1e-9;
}

class RecordTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!may_sample(false)) GTEST_SKIP() << "perf_event_open is refused here";
    if (program().empty()) GTEST_SKIP() << "no C compiler";
  }
  static RecordOptions fast() {
    RecordOptions options;
    options.period_ns = 250'007;
    return options;
  }
};

TEST_F(RecordTest, SampledTimeIsCpuTime) {
  testing::go_first();
  for (const Sampling sampling : {Sampling::automatic, Sampling::per_task}) {
    RecordOptions options = fast();
    options.sampling = sampling;
    const auto seen = record_program(options, {"call", "0.4"});
    ASSERT_TRUE(seen.has_value());
    EXPECT_EQ(seen->counted, seen->recording.samples);
    EXPECT_EQ(seen->counted_value, seen->recording.samples * options.period_ns);
    // 1,600 samples at regular times: their number is exact to a few, but timers come late. The
    // kernel's account has more than the program takes by its own clock: what our child does
    // until it is the program is not sampled (leaving our memory takes long where it is large).
    EXPECT_GE(sampled_s(*seen), 0.4 * 0.97);
    EXPECT_LE(sampled_s(*seen), cpu_s(*seen) * 1.03);
    EXPECT_EQ(seen->recording.lost, 0u);
    EXPECT_TRUE(seen->by_image.contains(program()));
    EXPECT_EQ(seen->by_process.size(), 1u);
    EXPECT_EQ(seen->recording.profile.machine.clock.has_value(), true);
  }
}

TEST_F(RecordTest, HoldsTheProgramsFileAndKnowsIt) {
  const auto seen = record_program(fast(), {"call", "0.1"});
  ASSERT_TRUE(seen.has_value());
  const Profile& profile = seen->recording.profile;
  bool found = false;
  for (const auto& [id, fd] : seen->recording.held) {
    const Image& image = profile.images[id.value];
    if (profile.strings.text(image.path) != program()) continue;
    found = true;
    struct stat by_fd{};
    struct stat by_path{};
    ASSERT_EQ(::fstat(fd.get(), &by_fd), 0);
    ASSERT_EQ(::stat(program().c_str(), &by_path), 0);
    EXPECT_EQ(by_fd.st_ino, by_path.st_ino);
    EXPECT_EQ(image.inode, by_path.st_ino);
    EXPECT_EQ(image.kind, ImageKind::program);
    EXPECT_EQ(image.size_bytes, static_cast<uint64_t>(by_path.st_size));
  }
  EXPECT_TRUE(found);
}

TEST_F(RecordTest, EverySampleHasAStackThatReachesMain) {
  RecordOptions options = fast();
  options.stacks = true;
  const auto seen = record_program(options, {"call", "0.2"});
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->stack_samples, seen->counted);
  EXPECT_GE(seen->deepest, 4u);  // turn or spin, call_spin, main, libc
}

TEST_F(RecordTest, TellsThreadsApartByName) {
  const auto seen = record_program(fast(), {"threads", "0.2"});
  ASSERT_TRUE(seen.has_value());
  ASSERT_TRUE(seen->by_thread.contains("spinner"));
  // Nearly all time is in the two named threads.
  EXPECT_GT(seen->by_thread.at("spinner"), seen->counted * 9 / 10);
  EXPECT_EQ(seen->by_process.size(), 1u);
  // Half of it without one of the two; SampledTimeIsCpuTime is the exact check.
  EXPECT_GE(sampled_s(*seen), 2 * 0.2 * 0.9);
  EXPECT_LE(sampled_s(*seen), cpu_s(*seen) * 1.1);
}

TEST_F(RecordTest, FollowsForkAndExec) {
  const auto seen = record_program(fast(), {"exec", "0.2"});
  ASSERT_TRUE(seen.has_value());
  // Parent and child burn 0.2 s each; the child has its program's name by exec.
  std::set<uint32_t> pids;
  for (const Process& process : seen->recording.profile.processes) pids.insert(process.pid);
  EXPECT_EQ(pids.size(), 2u);
  // One of the two would be half of it; SampledTimeIsCpuTime is the exact check.
  EXPECT_NEAR(sampled_s(*seen), cpu_s(*seen), 0.25 * cpu_s(*seen));
}

TEST_F(RecordTest, CountsShortChildrenInProportionToTheirTime) {
  if (!may_sample(true)) GTEST_SKIP() << "sampling whole CPUs is not permitted here";
  const RecordOptions options;  // a period of 1 ms, twice the life of a child
  const auto seen = record_program(options, {"short", "0.0005", "500"});
  ASSERT_TRUE(seen.has_value());
  // 500 x 0.5 ms and their forking: some 300 samples, Poisson at worst: 5 sigma.
  const double expected = cpu_s(*seen) / 1.001003e-3;
  EXPECT_NEAR(static_cast<double>(seen->counted), expected, 5 * std::sqrt(expected));
}

TEST_F(RecordTest, SaysWhatInheritedEventsDidNotSee) {
  RecordOptions options;
  options.sampling = Sampling::per_task;
  const auto seen = record_program(options, {"short", "0.0005", "200"});
  ASSERT_TRUE(seen.has_value());
  // 0.1 s of CPU time in children that live half a period each: nearly nothing is sampled.
  EXPECT_GT(seen->recording.profile.ledger.amount(ledger::kUnsampledTime), 50'000'000u);
}

TEST_F(RecordTest, NamesJitCodeFromThePerfMap) {
  const auto seen = record_program(fast(), {"jit", "0.2"});
  ASSERT_TRUE(seen.has_value());
  const uint32_t pid = seen->recording.profile.processes.at(0).pid;
  ::unlink(("/tmp/perf-" + std::to_string(pid) + ".map").c_str());
  ASSERT_TRUE(seen->by_image.contains("[jit] jitted_loop"));
  EXPECT_GT(seen->by_image.at("[jit] jitted_loop"), seen->counted * 8 / 10);
  ASSERT_EQ(seen->recording.jit_facts.size(), 1u);
  const ImageFacts& facts = seen->recording.jit_facts[0].second;
  ASSERT_EQ(facts.functions.size(), 1u);
  EXPECT_EQ(facts.strings.text(facts.functions[0].name), "jitted_loop");
  EXPECT_EQ(facts.functions[0].end, FileOffset(9));  // the nine bytes of its code
}

TEST_F(RecordTest, TellsCodeAtOnePlaceApartByTheTimesOfAJitdump) {
  const std::string folder = program().substr(0, program().rfind('/'));
  const auto seen = record_program(fast(), {"jitdump", "0.15", folder});
  ASSERT_TRUE(seen.has_value());
  ASSERT_TRUE(seen->by_image.contains("[jit] first"));
  ASSERT_TRUE(seen->by_image.contains("[jit] second"));
  // 0.15 s and 0.3 s at 4 kHz: 600 and 1,200 samples; bounds of 10 %.
  EXPECT_NEAR(static_cast<double>(seen->by_image.at("[jit] first")), 600, 60);
  EXPECT_NEAR(static_cast<double>(seen->by_image.at("[jit] second")), 1200, 120);
  ASSERT_EQ(seen->recording.jit_facts.size(), 2u);
  ASSERT_EQ(seen->recording.jit_facts[0].second.code.size(), 1u);
  EXPECT_EQ(seen->recording.jit_facts[0].second.code[0].bytes.substr(0, 3), "\x48\x89\xf8");
}

TEST_F(RecordTest, HoldsAProgramThatDeletesItself) {
  const std::string copy = program() + "-copy";
  ASSERT_EQ(std::system(("cp " + program() + " " + copy).c_str()), 0);
  struct stat before{};
  ASSERT_EQ(::stat(copy.c_str(), &before), 0);
  RecordOptions options = fast();
  options.command = {copy, "vanish", "0.4"};
  const Result<Recording> recording = record(options, {}, {});
  ASSERT_TRUE(recording.has_value()) << recording.error().message;
  EXPECT_FALSE(file_exists(copy));
  bool found = false;
  for (const auto& [id, fd] : recording->held) {
    struct stat held{};
    ASSERT_EQ(::fstat(fd.get(), &held), 0);
    found = found || held.st_ino == before.st_ino;
  }
  EXPECT_TRUE(found);
}

TEST_F(RecordTest, PassesStatusAndSignalOn) {
  const auto status = record_program(fast(), {"status", "0.01"});
  ASSERT_TRUE(status.has_value());
  EXPECT_TRUE(WIFEXITED(status->recording.command_wait_status));
  EXPECT_EQ(WEXITSTATUS(status->recording.command_wait_status), 7);
  const auto killed = record_program(fast(), {"kill"});
  ASSERT_TRUE(killed.has_value());
  EXPECT_TRUE(WIFSIGNALED(killed->recording.command_wait_status));
  EXPECT_EQ(WTERMSIG(killed->recording.command_wait_status), SIGKILL);
}

TEST_F(RecordTest, RecordsARunningProcessForAWhile) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(program().c_str(), "burn", "threads", "5", nullptr);
    ::_exit(1);
  }
  ::usleep(50'000);
  RecordOptions options = fast();
  options.pids = {child};
  options.duration_ns = 300'000'000;
  for (const Sampling sampling : {Sampling::automatic, Sampling::per_task}) {
    options.sampling = sampling;
    const Result<Recording> recording = record(options, {}, {});
    ASSERT_TRUE(recording.has_value()) << recording.error().message;
    Seen seen;
    seen.add(recording->profile);
    // Two threads on at least one CPU for 0.3 s at 4 kHz: 1,200 samples if nothing else runs.
    EXPECT_GT(seen.counted, 300u);
    EXPECT_TRUE(seen.by_image.contains(program()));
    EXPECT_TRUE(seen.by_thread.contains("spinner"));
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(RecordTest, RefusesWhatCannotRun) {
  RecordOptions options;
  options.command = {"/no/such/program"};
  const Result<Recording> recording = record(options, {}, {});
  ASSERT_FALSE(recording.has_value());
  EXPECT_EQ(recording.error().message, "cannot run '/no/such/program': No such file or directory");
  options.command.clear();
  EXPECT_FALSE(record(options, {}, {}).has_value());
}

TEST(Record, SaysWhyOtherTargetsCannotBeSampledFromInside) {
  RecordOptions options;
  options.engine = EngineChoice::posix_timer;
  options.pids = {1};
  const Result<Recording> recording = record(options, {}, {});
  ASSERT_FALSE(recording);
  EXPECT_NE(recording.error().message.find("cannot record processes that are already running"),
            std::string::npos)
      << recording.error().message;
}

TEST_F(RecordTest, KeepsTheCommandAliveWhenTheSinkFails) {
  RecordOptions options = fast();
  options.engine = EngineChoice::timer;
  options.command = {program(), "call", "1.4"};
  int calls = 0;
  const Result<Recording> recording = record(
      options,
      [&](const Profile&) -> Result<void> {
        ++calls;
        return Error{"disk full"};
      },
      nullptr);
  ASSERT_FALSE(recording.has_value());
  EXPECT_EQ(recording.error().message, "disk full");
  EXPECT_EQ(calls, 1);
}

/// Each epoch is a run: it has its own rows, and what was sampled in it is counted there.
TEST_F(RecordTest, MakesARunOfEachEpoch) {
  RecordOptions options = fast();
  options.engine = EngineChoice::timer;
  options.command = {program(), "call", "0.6"};
  options.flush_every_ns = 100'000'000;
  EventControl control;
  options.control = &control;
  std::map<uint32_t, uint64_t> samples;  // by run
  int flushes = 0;
  const auto add = [&](const Profile& profile) {
    for (const Histogram& histogram : profile.histograms) {
      const Context& context = profile.contexts[histogram.context.value];
      EXPECT_EQ(profile.processes[context.process.value].run, context.run);
      EXPECT_EQ(profile.threads[context.thread.value].process, context.process);
      for (const EventColumn& column : histogram.columns) {
        for (const uint64_t count : column.samples) samples[context.run.value] += count;
      }
    }
  };
  const Result<Recording> recording = record(
      options,
      [&](const Profile& profile) -> Result<void> {
        add(profile);
        ++flushes;
        if (flushes == 2 || flushes == 4) control.ask_for_new_epoch();
        return {};
      },
      nullptr);
  ASSERT_TRUE(recording.has_value()) << recording.error().message;
  add(recording->profile);
  const std::vector<culprit::Run>& runs = recording->profile.runs;
  ASSERT_EQ(runs.size(), 3u);
  ASSERT_EQ(samples.size(), 3u);
  uint64_t all = 0;
  for (const auto& [run, count] : samples) all += count;
  EXPECT_EQ(all, recording->samples);
  EXPECT_EQ(recording->profile.processes.size(), 3u);
  for (size_t run = 0; run < runs.size(); ++run) {
    // Flushes are 100 ms apart, and the program needs 0.6 s.
    EXPECT_GE(runs[run].duration_ns, 100'000'000) << run;
    EXPECT_FALSE(runs[run].cpu_time_ns) << run;  // the kernel tells it of the whole only
    EXPECT_EQ(runs[run].wait_status.has_value(), run + 1 == runs.size()) << run;
  }
}

TEST(EstimateUnsampled, ToleratesChanceOnly) {
  // 1 s at 1 ms: 1,000 expected, sigma 31.6 ms, plus 1 %: up to 104.8 ms may be missing.
  EXPECT_EQ(estimate_unsampled_ns(1'000'000'000, 900, 1'000'000), 0u);
  EXPECT_EQ(estimate_unsampled_ns(1'000'000'000, 890, 1'000'000), 110'000'000u);
  EXPECT_EQ(estimate_unsampled_ns(1'000'000'000, 1'100, 1'000'000), 0u);
}

}  // namespace
}  // namespace culprit
