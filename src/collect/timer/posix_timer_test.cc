// Whole recordings by the timer shim. Expected times are those that the programs
// of timer_test_programs.h take, and the kernel's account of CPU time.

#include "collect/timer/posix_timer.h"

#include <fstream>
#include <gtest/gtest.h>
#include <numeric>
#include <signal.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "base/test_folders.h"
#include "base/test_priority.h"
#include "collect/timer/timer_test_programs.h"
#include "recording/signals.h"

namespace culprit {
namespace {

using namespace testing;

const std::string kReason = "perf_event_open is refused (EPERM)";

class PosixTimer : public ::testing::Test {
 protected:
  void SetUp() override {
    go_first();
    options_.period_ns = 1'001'003;
    options_.shim_path = binary_folder() + "/libculprit_timer.so";
    if (!file_exists(options_.shim_path)) GTEST_SKIP() << "libculprit_timer.so is not built here";
    Result<TemporaryFolder> made = TemporaryFolder::make();
    ASSERT_TRUE(made) << made.error().message;
    folder_.emplace(std::move(*made));
  }

  std::string compile(const std::string& name, const std::string& source,
                      const std::string& options = "") {
    const std::string path = folder_->path() + "/" + name;
    std::ofstream(path + ".c") << source;
    const std::string line =
        "cc -O1 -fno-omit-frame-pointer -o " + path + " " + path + ".c -pthread -ldl " + options;
    EXPECT_EQ(std::system(line.c_str()), 0) << line;
    return path;
  }

  /// Records and adds up what the sink got and what was left.
  Result<Recording> record_command(std::vector<std::string> command) {
    options_.command = std::move(command);
    samples_ = value_ns_ = stack_samples_ = 0;
    flushes_ = 0;
    by_image_.clear();
    by_process_.clear();
    Result<Recording> recording = record_with_posix_timer(
        options_,
        [&](const Profile& profile) {
          ++flushes_;
          add_up(profile);
          return Result<void>();
        },
        nullptr, kReason);
    if (recording) add_up(recording->profile);
    return recording;
  }

  void add_up(const Profile& profile) {
    for (const StackCount& count : profile.stack_counts) stack_samples_ += count.cell.samples;
    for (const Histogram& histogram : profile.histograms) {
      for (const EventColumn& column : histogram.columns) {
        const uint64_t value =
            std::accumulate(column.value.begin(), column.value.end(), uint64_t{0});
        samples_ += std::accumulate(column.samples.begin(), column.samples.end(), uint64_t{0});
        value_ns_ += value;
        const ProcessId process = profile.contexts[histogram.context.value].process;
        by_process_[profile.processes[process.value].pid] += static_cast<double>(value) * 1e-9;
        by_image_[profile.strings.text(profile.images[histogram.image.value].path)] +=
            static_cast<double>(value) * 1e-9;
      }
    }
  }

  [[nodiscard]] double sampled_s() const { return static_cast<double>(value_ns_) * 1e-9; }

  TimerOptions options_;
  std::optional<TemporaryFolder> folder_;
  uint64_t samples_ = 0;
  uint64_t value_ns_ = 0;
  uint64_t stack_samples_ = 0;
  int flushes_ = 0;
  std::map<std::string, double> by_image_;
  std::map<uint32_t, double> by_process_;
};

TEST_F(PosixTimer, RecordsACommand) {
  const std::string program = compile("one", std::string(kSpin) + kOneThread);
  const Result<Recording> recording = record_command({program});
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_EQ(WEXITSTATUS(recording->command_wait_status), 7);
  EXPECT_TRUE(recording->command_started);
  EXPECT_NEAR(by_image_[program], 0.3, 0.04);
  EXPECT_EQ(samples_, recording->samples) << "every sample is somewhere";

  const Profile& profile = recording->profile;
  ASSERT_EQ(profile.events.size(), 1U);
  EXPECT_EQ(profile.strings.text(profile.events[0].name), "cpu-time");
  EXPECT_EQ(profile.strings.text(profile.events[0].engine), "posix-timer");
  EXPECT_EQ(profile.events[0].unit, Unit::ns);
  ASSERT_EQ(profile.runs.size(), 1U);
  // The kernel's account has what comes before the shim, too (leaving our memory, loading).
  const double found_s =
      sampled_s() + static_cast<double>(profile.ledger.amount(ledger::kKernelNotSampled)) * 1e-9;
  EXPECT_GE(found_s, 0.3 - 0.03);
  EXPECT_LE(found_s, static_cast<double>(profile.runs[0].cpu_time_ns.value_or(0)) * 1e-9 + 0.03);
  ASSERT_TRUE(profile.machine.clock.has_value());
  EXPECT_EQ(recording->held.size(), recording->profile.images.size() == 0 ? 0U : by_image_.size())
      << "the file of each image with samples is kept open";
  ASSERT_FALSE(recording->remarks.empty());
  EXPECT_EQ(recording->remarks[0].find(kReason), 0U);
}

TEST_F(PosixTimer, KnowsTheProgramFromItsLibraries) {
  const std::string program = compile("one", std::string(kSpin) + kOneThread);
  const Result<Recording> recording = record_command({program});
  ASSERT_TRUE(recording) << recording.error().message;
  const Profile& profile = recording->profile;
  for (const Image& image : profile.images) {
    const std::string& path = profile.strings.text(image.path);
    if (by_image_.count(path) == 0) continue;
    EXPECT_EQ(image.kind == ImageKind::program, path == program) << path;
  }
}

TEST_F(PosixTimer, FlushesEachSecondAndLosesNothingBetween) {
  const std::string program = compile("threads", std::string(kSpin) + kThreads);
  const Result<Recording> recording = record_command({program, "1", "1.3"});
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_GE(flushes_, 1);
  EXPECT_EQ(samples_, recording->samples);
  EXPECT_NEAR(by_image_[program], 1.3, 0.1);
}

TEST_F(PosixTimer, GivesEachProcessARow) {
  const std::string program = compile("chain", std::string(kSpin) + kForkThenExec);
  const Result<Recording> recording = record_command({program});
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_NEAR(by_image_[program], 0.3, 0.05);
  // Two children of 0.15 s each; one of them has executed the program anew.
  const Profile& profile = recording->profile;
  // That one has two rows where a tick came before it.
  std::set<uint32_t> busy;
  std::set<uint32_t> parents;
  for (const Process& process : profile.processes) {
    EXPECT_EQ(profile.strings.text(process.name), "chain");
    if (by_process_[process.pid] < 0.1) continue;
    busy.insert(process.pid);
    parents.insert(process.parent_pid);
  }
  EXPECT_EQ(busy.size(), 2U);
  EXPECT_EQ(parents.size(), 1U);
}

TEST_F(PosixTimer, LeavesOutWhatComesBeforeTheDelayAndAfterTheDuration) {
  const std::string program = compile("threads", std::string(kSpin) + kThreads);
  options_.delay_ns = 400'000'000;
  Result<Recording> recording = record_command({program, "1", "0.6"});
  ASSERT_TRUE(recording) << recording.error().message;
  // Wall time against CPU time: how much is left depends on what else the machine does.
  EXPECT_LT(sampled_s(), 0.56);
  EXPECT_GT(sampled_s(), 0.1);
  options_.delay_ns = 0;
  options_.duration_ns = 200'000'000;
  recording = record_command({program, "1", "0.6"});
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_LT(sampled_s(), 0.45);
  EXPECT_GT(sampled_s(), 0.02);
  EXPECT_EQ(recording->command_wait_status, 0) << "it ran to its end";
}

TEST_F(PosixTimer, PassesASignalForUsOnToTheCommand) {
  const std::string program = compile("threads", std::string(kSpin) + kThreads);
  SignalGuard signals;
  options_.control = &signals;
  std::thread interrupter([] {
    usleep(300'000);
    kill(getpid(), SIGINT);
  });
  const Result<Recording> recording = record_command({program, "1", "30"});
  interrupter.join();
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_TRUE(WIFSIGNALED(recording->command_wait_status));
  EXPECT_EQ(WTERMSIG(recording->command_wait_status), SIGINT);
  EXPECT_GT(recording->samples, 0U);
}

TEST_F(PosixTimer, KeepsStacks) {
  options_.stacks = true;
  const std::string program =
      compile("nested", std::string(kSpin) + kNested, "-fno-optimize-sibling-calls");
  const Result<Recording> recording = record_command({program});
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_EQ(stack_samples_, recording->samples);
}

TEST_F(PosixTimer, SaysWhyAStaticProgramCannotBeSampled) {
  const std::string program = compile("static", "int main(void) { return 0; }", "-static");
  const Result<Recording> recording = record_command({program});
  ASSERT_FALSE(recording);
  EXPECT_EQ(recording.error().message.find("cannot profile '" + program +
                                           "' here: it is statically linked; and " + kReason),
            0U)
      << recording.error().message;
}

TEST_F(PosixTimer, SaysWhyACommandCannotBeRun) {
  const Result<Recording> recording = record_command({"/nonexistent/program"});
  ASSERT_FALSE(recording);
  EXPECT_EQ(recording.error().message,
            "cannot run '/nonexistent/program': No such file or directory");
}

TEST_F(PosixTimer, StopsWhenTheSinkFailsButLetsTheCommandEnd) {
  options_.command = {compile("threads", std::string(kSpin) + kThreads), "1", "1.2"};
  const Result<Recording> recording = record_with_posix_timer(
      options_, [](const Profile&) -> Result<void> { return Error{"disk full"}; }, nullptr, "");
  ASSERT_FALSE(recording);
  EXPECT_EQ(recording.error().message, "disk full");
}

// This very test program, as nobody and without perf_event_open.
TEST_F(PosixTimer, RecordsInsideAContainer) {
  if (getuid() != 0) GTEST_SKIP() << "needs root to become nobody";
  const std::string container = compile("container", kContainer);
  EXPECT_EQ(chmod(folder_->path().c_str(), 0755), 0);
  char self[4096] = "";
  ASSERT_GT(readlink("/proc/self/exe", self, sizeof self - 1), 0);
  if (std::system((container + " test -x " + self).c_str()) != 0) {
    GTEST_SKIP() << "nobody may not run " << self;
  }
  const std::string line = container + " " + self +
                           " --gtest_brief=1 --gtest_filter=PosixTimer.RecordsACommand:"
                           "PosixTimer.GivesEachProcessARow";
  EXPECT_EQ(std::system(line.c_str()), 0);
}

}  // namespace
}  // namespace culprit
