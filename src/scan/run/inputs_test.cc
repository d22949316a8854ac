#include "scan/run/inputs.h"

#include <gtest/gtest.h>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

#include "scan/run/cell_process.h"
#include "scan/run/run_scan.h"
#include "scan/run/scan_file.h"

namespace culprit::scan {
namespace {

TEST(Inputs, AreReadFromRulesForMake) {
  EXPECT_EQ(parse_dependencies("out.o: a.cc \\\n  with\\ blank.h b.h a.cc\nother: c.h\n"),
            (std::vector<std::string>{"a.cc", "with blank.h", "b.h", "c.h"}));
  EXPECT_EQ(parse_dependencies("a.o: C:x.h $$y\n"), (std::vector<std::string>{"C:x.h", "$y"}));
  EXPECT_TRUE(parse_dependencies("no rule").empty());
  EXPECT_TRUE(parse_dependencies("\\").empty());
}

TEST(Inputs, AreDescribedByTheirContents) {
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const std::string path = folder->path() + "/a b.h";
  const auto write = [&](const char* text) {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    std::fputs(text, file);
    std::fclose(file);
  };
  const auto describe = [&] {
    FileHashes hashes;
    return describe_inputs({path, folder->path() + "/none"}, hashes);
  };
  write("one");
  const std::string one = describe();
  EXPECT_EQ(parse_inputs(one), std::vector<std::string>{path});
  write("two");
  EXPECT_NE(describe(), one);
  write("one");
  EXPECT_EQ(describe(), one);
}

TEST(Hash, TellsTextsApart) {
  EXPECT_EQ(hash_text("").size(), 32u);
  EXPECT_NE(hash_text("a"), hash_text("b"));
  EXPECT_NE(hash_text(std::string(1, '\0')), hash_text(std::string(2, '\0')));
}

/// A file with cells in it, made without running anything.
class ScanFileTest : public testing::Test {
 protected:
  static Profile make_cell(const std::string& setup, const std::string& status) {
    Profile profile;
    culprit::Run run;
    run.host = run.command = profile.strings.intern("");
    label_run(profile.strings, run, {"kernel", setup, {{"DIM", "3"}}});
    label_run(profile.strings, run, kStatusLabel, status);
    profile.runs.push_back(run);
    return profile;
  }
  static std::string read_names(const std::string& path) {
    Result<ProfileReader> reader = ProfileReader::open(path);
    if (!reader) return reader.error().message;
    const Result<Profile> profile = reader->read_profile();
    if (!profile) return profile.error().message;
    std::string names;
    for (const Cell& cell : find_cells(*profile)) {
      names += cell.name.text() + ":" + cell.detail(kStatusLabel) + " ";
    }
    return names;
  }
  void SetUp() override {
    Result<TemporaryFolder> made = TemporaryFolder::make();
    ASSERT_TRUE(made);
    folder_.emplace(*std::move(made));
    path_ = folder_->path() + "/scan.culprit";
  }
  std::optional<TemporaryFolder> folder_;
  std::string path_;
};

TEST_F(ScanFileTest, GrowsAcrossOpenings) {
  {
    Result<ScanFile> file = ScanFile::open(path_);
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE(file->add(make_cell("a", "crashed")));
    ASSERT_TRUE(file->add(make_cell("b", "crashed")));
    // Left open, as by kill -9.
  }
  EXPECT_EQ(read_names(path_), "kernel a 3:crashed kernel b 3:crashed ");
  {
    Result<ScanFile> file = ScanFile::open(path_);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->cells().size(), 2u);
    ASSERT_TRUE(file->add(make_cell("a", "timed out")));
    ASSERT_TRUE(file->close());
  }
  EXPECT_EQ(read_names(path_), "kernel a 3:timed out kernel b 3:crashed ");
}

TEST_F(ScanFileTest, IsWrittenByOneAtATime) {
  const Result<ScanFile> first = ScanFile::open(path_);
  ASSERT_TRUE(first);
  const Result<ScanFile> second = ScanFile::open(path_);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("another scan is writing to"), std::string::npos);
}

/// A worker of a scan that was killed has the lock until it is killed, too.
TEST_F(ScanFileTest, WaitsForWorkersOfOneThatWasKilled) {
  std::optional<Result<ScanFile>> first = ScanFile::open(path_);
  ASSERT_TRUE(*first);
  const pid_t worker = ::fork();
  ASSERT_GE(worker, 0);
  if (worker == 0) {
    ::usleep(200'000);
    ::_exit(0);
  }
  first.reset();
  EXPECT_TRUE(ScanFile::open(path_));
  ::waitpid(worker, nullptr, 0);
}

/// Whoever kills a scan finds its file free, however long a worker takes to end.
TEST_F(ScanFileTest, IsNotKeptByWorkers) {
  std::optional<Result<ScanFile>> first = ScanFile::open(path_);
  ASSERT_TRUE(*first);
  ScanSetting setting;
  setting.plan.build = "sleep 60";
  setting.plan.timeout_s = 60;
  CellJob job;
  job.scratch = folder_->path() + "/cell";
  Result<CellProcess> worker = CellProcess::start(setting, job);
  ASSERT_TRUE(worker) << worker.error().message;
  first.reset();
  EXPECT_TRUE(ScanFile::open(path_));
  EXPECT_FALSE(worker->has_ended());
}

TEST_F(ScanFileTest, ForgetsCells) {
  {
    Result<ScanFile> file = ScanFile::open(path_);
    ASSERT_TRUE(file);
    for (const char* setup : {"a", "b", "c"}) {
      ASSERT_TRUE(file->add(make_cell(setup, "crashed")));
    }
    ASSERT_TRUE(file->close());
  }
  const Result<size_t> gone =
      forget_cells(path_, [](const Cell& cell) { return cell.name.setup == "b"; });
  ASSERT_TRUE(gone) << gone.error().message;
  EXPECT_EQ(*gone, 1u);
  EXPECT_EQ(read_names(path_), "kernel a 3:crashed kernel c 3:crashed ");
}

}  // namespace
}  // namespace culprit::scan
