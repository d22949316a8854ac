// Files of JIT compilers that others made, or that never end. The processes are children of the
// test; the files stand where the compilers put them.

#include "recording/jit_code.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace culprit {
namespace {

constexpr uid_t kUser = 12345;
constexpr uid_t kOther = 23456;

class JitCodeTest : public testing::Test {
 protected:
  void SetUp() override {
    child_ = ::fork();
    if (child_ == 0) {
      if (::geteuid() == 0 && ::setuid(kUser) != 0) ::_exit(1);
      ::pause();
      ::_exit(0);
    }
    path_ = fmt::format("/tmp/perf-{}.map", child_);
    // It takes a moment until it is who it will be.
    for (int i = 0; ::geteuid() == 0 && i < 1000 && owner_of_child() != kUser; ++i) ::usleep(1000);
  }
  void TearDown() override {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    std::filesystem::remove_all(path_);
  }
  uid_t owner_of_child() const {
    std::ifstream status(fmt::format("/proc/{}/status", child_));
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("Uid:")) return static_cast<uid_t>(std::atoi(line.c_str() + 5));
    return 0;
  }

  void write_map(uid_t owner, mode_t mode, const std::string& text = "1000 100 made\n") {
    std::ofstream(path_) << text;
    if (::geteuid() == 0) {
      ASSERT_EQ(::chown(path_.c_str(), owner, owner), 0);
    }
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
  }

  /// Whether 0x1010 has a name now.
  bool is_named(uint64_t address = 0x1010) {
    const auto pid = static_cast<uint32_t>(child_);
    code_.watch(pid);
    code_.refresh(pid);
    return code_.locate(pid, RunAddress(address), UINT64_MAX, builder_).has_value();
  }
  uint64_t amount(const LedgerKind& kind) {
    Ledger ledger;
    code_.add_to(ledger);
    return ledger.amount(kind);
  }

  pid_t child_ = -1;
  std::string path_;
  JitCode code_;
  ProfileBuilder builder_;
};

TEST_F(JitCodeTest, BelievesTheProcesssUserAndRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to be two users";
  write_map(kUser, 0664);
  EXPECT_TRUE(is_named());
  write_map(0, 0644, "1000 100 made\n2000 100 more\n");
  EXPECT_TRUE(is_named(0x2000));
  EXPECT_EQ(amount(ledger::kJitFilesRefused), 0u);
}

TEST_F(JitCodeTest, DoesNotBelieveAnybodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to be two users";
  write_map(kOther, 0644);
  EXPECT_FALSE(is_named());
  EXPECT_FALSE(is_named());
  EXPECT_EQ(amount(ledger::kJitFilesRefused), 1u);  // a file, however often it is tried
}

TEST_F(JitCodeTest, BelievesNeitherLinksNorWhatEverybodyMayWrite) {
  write_map(kUser, 0666);
  EXPECT_FALSE(is_named());
  std::filesystem::rename(path_, path_ + ".target");
  ASSERT_EQ(::chmod((path_ + ".target").c_str(), 0644), 0);
  std::filesystem::create_symlink(path_ + ".target", path_);
  EXPECT_FALSE(is_named());
  std::filesystem::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0644), 0);
  EXPECT_FALSE(is_named());  // at once: nobody writes to it
  std::filesystem::remove(path_ + ".target");
  EXPECT_EQ(amount(ledger::kJitFilesRefused), 1u);
}

TEST_F(JitCodeTest, ReadsAMapUpToALimit) {
  // 1,000,000 lines of 100 bytes: 100 MB, of which 64 MiB are read.
  std::string text;
  text.reserve(101'000'000);
  for (uint64_t i = 0; i < 1'000'000; ++i)
    text += fmt::format("{:012x} 10 {:x<83}\n", i * 16, "name");
  write_map(kUser, 0644, text);
  EXPECT_TRUE(is_named(0x10));
  const uint64_t lines_read = (64 << 20) / 100;
  EXPECT_TRUE(is_named((lines_read - 2) * 16));
  EXPECT_FALSE(is_named((lines_read + 2) * 16));
  EXPECT_EQ(amount(ledger::kJitFilesCut), 1u);
}

TEST_F(JitCodeTest, AMapWithoutLinesIsGivenUp) {
  write_map(kUser, 0644, std::string(2 << 20, 'x'));
  EXPECT_FALSE(is_named());
  EXPECT_EQ(amount(ledger::kJitFilesCut), 1u);
}

}  // namespace
}  // namespace culprit
