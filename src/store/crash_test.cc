// What is left of a recording that is killed, or whose disk fills up.

#include <fcntl.h>
#include <filesystem>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/random_profile.h"
#include "store/database.h"
#include "store/test_files.h"

namespace culprit {
namespace {

class Crash : public StoreTest {
 protected:
  /// A thousand cells of one sample each: the n-th flush of a recording.
  static Profile flush_profile() {
    Profile p = small_profile();
    Histogram& histogram = p.histograms[0];
    histogram = {ContextId(0u), ImageId(0u), {}, {{EventId(0u), {}, {}, {}}}};
    uint64_t offset = 0;
    for (uint64_t i = 0; i < 1000; ++i) {
      offset += 1 + i * i % 61;
      histogram.offsets.push_back(FileOffset(offset));
      histogram.columns[0].samples.push_back(1);
      histogram.columns[0].value.push_back(1001003);
    }
    return p;
  }

  /// Flushes for ever in a child and writes a byte to the pipe after each.
  pid_t start_recording(int pipe_end) const {
    const pid_t child = ::fork();
    if (child != 0) return child;
    Result<ProfileWriter> writer = ProfileWriter::create(path_);
    const Profile profile = flush_profile();
    while (writer && writer->flush(profile) && ::write(pipe_end, "f", 1) == 1) {
    }
    ::_exit(1);
  }
};

TEST_F(Crash, KilledAtAnyMomentKeepsEveryFinishedFlush) {
  for (int round = 0; round < 25; ++round) {
    int pipe_ends[2];
    ASSERT_EQ(::pipe(pipe_ends), 0);
    const pid_t child = start_recording(pipe_ends[1]);
    ASSERT_GT(child, 0);
    ::close(pipe_ends[1]);
    char byte = 0;
    for (int flush = 0; flush < 1 + round % 4; ++flush)
      ASSERT_EQ(::read(pipe_ends[0], &byte, 1), 1);
    ::usleep(static_cast<useconds_t>(round * 97));  // anywhere in the next flush
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    uint64_t flushes = static_cast<uint64_t>(1 + round % 4);
    while (::read(pipe_ends[0], &byte, 1) == 1) ++flushes;
    ::close(pipe_ends[0]);

    const Result<Profile> got = read(path_);
    ASSERT_GOOD(got);
    // A flush may have been finished and not yet told; none may be there in part.
    EXPECT_EQ(samples_of(*got) % 1000, 0u);
    EXPECT_GE(samples_of(*got), flushes * 1000);
    EXPECT_LE(samples_of(*got), (flushes + 1) * 1000);
    EXPECT_EQ(got->ledger.amount(ledger::kInterrupted), 1u);
    std::filesystem::remove(path_);
    std::filesystem::remove(path_ + "-journal");
  }
}

/// Leaves a file whose pages were half overwritten, with the journal that undoes it.
void leave_hot_journal(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    sqlite3* handle = nullptr;
    sqlite3_open(path.c_str(), &handle);
    sqlite3_exec(handle,
                 "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE;"
                 "DELETE FROM segments;"
                 "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 500)"
                 "INSERT INTO segments SELECT i, 'nonsense', 1, 1, randomblob(4000) FROM n;",
                 nullptr, nullptr, nullptr);
    ::_exit(0);  // without COMMIT
  }
  int status = 0;
  ::waitpid(child, &status, 0);
}

TEST_F(Crash, AHotJournalIsRolledBackOnOpen) {
  write(small_profile());
  leave_hot_journal(path_);
  ASSERT_GT(std::filesystem::file_size(path_ + "-journal"), 512u);
  const Result<Profile> got = read(path_);
  ASSERT_GOOD(got);
  EXPECT_EQ(samples_of(*got), 3u);
  EXPECT_FALSE(file_exists(path_ + "-journal"));
}

TEST_F(Crash, AHotJournalThatMayNotBeRolledBackIsAClearError) {
  write(small_profile());
  leave_hot_journal(path_);
  ASSERT_EQ(::chmod(path_.c_str(), 0644), 0);
  ASSERT_EQ(::chmod((path_ + "-journal").c_str(), 0644), 0);
  ASSERT_EQ(::chmod(folder_->path().c_str(), 0555), 0);
  const int status = run_as_nobody([&] {
    const Result<Profile> got = read(path_);
    return !got && got.error().message.find("copy both files") != std::string::npos ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

TEST_F(Crash, AFileThatMayOnlyBeReadIsRead) {
  write(small_profile());
  ASSERT_EQ(::chmod(path_.c_str(), 0444), 0);
  ASSERT_EQ(::chmod(folder_->path().c_str(), 0555), 0);
  const int status = run_as_nobody([&] {
    if (!read(path_)) return 1;
    return ProfileWriter::open(path_) ? 2 : 0;
  });
  EXPECT_EQ(status, 0);
}

/// A file system of a few hundred kilobytes.
class FullDisk : public Crash {
 protected:
  void SetUp() override {
    Crash::SetUp();
    disk_ = folder_->path() + "/disk";
    std::filesystem::create_directory(disk_);
    if (::mount("tmpfs", disk_.c_str(), "tmpfs", 0, "size=400k") != 0) {
      GTEST_SKIP() << "may not mount a small file system here";
    }
    path_ = disk_ + "/p.culprit";
  }
  void TearDown() override { ::umount(disk_.c_str()); }
  std::string disk_;
};

TEST_F(FullDisk, KeepsWhatWasFlushedAndSaysSo) {
  uint64_t flushes = 0;
  {
    Result<ProfileWriter> writer = ProfileWriter::create(path_);
    ASSERT_GOOD(writer);
    const Profile profile = flush_profile();
    Result<void> flushed;
    while ((flushed = writer->flush(profile)) && flushes < 10'000) ++flushes;
    ASSERT_FALSE(flushed);
    EXPECT_NE(flushed.error().message.find("no space left"), std::string::npos)
        << flushed.error().message;
    EXPECT_FALSE(writer->flush(profile));  // and once more
  }
  const Result<Profile> got = read(path_);
  ASSERT_GOOD(got);
  EXPECT_GT(flushes, 10u);
  EXPECT_EQ(samples_of(*got), flushes * 1000);
  EXPECT_EQ(got->ledger.amount(ledger::kInterrupted), 1u);
}

TEST_F(FullDisk, FactsThatDoNotFitLeaveTheCounts) {
  Result<ProfileWriter> writer = ProfileWriter::create(path_);
  ASSERT_GOOD(writer);
  const Profile profile = flush_profile();
  ASSERT_TRUE(writer->flush(profile));
  ImageFacts facts;
  std::mt19937 random(1);
  std::string noise(1 << 20, '\0');
  for (char& byte : noise) byte = static_cast<char>(random());
  facts.code.push_back({FileOffset(0), noise});
  const Result<void> wrote = writer->write_facts(ImageId(0u), facts);
  if (wrote) {
    EXPECT_FALSE(writer->close(profile));  // the disk is asked only at the commit
  }
  writer = Error{};
  const Result<Profile> got = read(path_);
  ASSERT_GOOD(got);
  EXPECT_EQ(samples_of(*got), 1000u);
}

TEST_F(FullDisk, NoRoomAtAllIsAClearError) {
  const Fd filler(::open((disk_ + "/filler").c_str(), O_WRONLY | O_CREAT, 0600));
  const std::string block(1 << 16, 'x');
  while (::write(filler.get(), block.data(), block.size()) > 0) {
  }
  const Result<ProfileWriter> writer = ProfileWriter::create(path_);
  ASSERT_FALSE(writer);
  EXPECT_NE(writer.error().message.find("no space left"), std::string::npos);
}

}  // namespace
}  // namespace culprit
