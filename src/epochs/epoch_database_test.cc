#include "epochs/epoch_database.h"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "epochs/merge_epochs.h"
#include "epochs/thin_out.h"
#include "model/idle_time.h"
#include "model/merge.h"
#include "store/profile_file.h"

namespace culprit {
namespace {

#define ASSERT_DONE(result) ASSERT_TRUE(result) << (result).error().message

class EpochDatabaseTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::access("/dev/shm", W_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 1);
    Result<TemporaryFolder> made = TemporaryFolder::make();
    ASSERT_DONE(made);
    temporary_.emplace(*std::move(made));
    folder_ = temporary_->path() + "/db";
  }

  /// One run of 600 s, `samples` samples at one place of one program.
  static Profile make_epoch(uint64_t samples, uint64_t period_ns = 1001003) {
    Profile p;
    p.runs.push_back({p.strings.intern("host"), {}, {}, 0, 600'000'000'000, {}, {}});
    p.processes.push_back({RunId(0u), 0, 0, p.strings.intern("cc1")});
    Context context;
    context.run = RunId(0u);
    context.process = ProcessId(0u);
    p.contexts.push_back(context);
    p.events.push_back(
        {p.strings.intern("cpu-clock"), Unit::ns, Provenance::sampled, {}, {}, period_ns, 1});
    Image image;
    image.kind = ImageKind::program;
    image.path = p.strings.intern("/usr/bin/cc1");
    image.build_id = "abcd";
    p.images.push_back(image);
    p.histograms.push_back({ContextId(0u),
                            ImageId(0u),
                            {FileOffset(16)},
                            {{EventId(0u), {samples}, {samples * period_ns}, {}}}});
    add_idle_time(p, {100, 1000});
    return p;
  }

  static void write(const std::string& path, const Profile& profile, bool closes = true) {
    Result<ProfileWriter> writer = ProfileWriter::create(path);
    ASSERT_DONE(writer);
    const Result<void> written = closes ? writer->close(profile) : writer->flush(profile);
    ASSERT_DONE(written);
  }

  static uint64_t samples_of(const Profile& profile) {
    uint64_t sum = 0;
    for (const Histogram& histogram : profile.histograms) {
      for (const EventColumn& column : histogram.columns) {
        for (const uint64_t samples : column.samples) sum += samples;
      }
    }
    return sum;
  }

  std::optional<TemporaryFolder> temporary_;
  std::string folder_;
};

TEST_F(EpochDatabaseTest, IsMadeOnceAndHasOneDaemon) {
  Result<EpochDatabase> first = EpochDatabase::claim(folder_);
  ASSERT_DONE(first);
  const Result<EpochDatabase> second = EpochDatabase::claim(folder_);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("is in use"), std::string::npos);
  ASSERT_DONE(EpochDatabase::open(folder_));  // readers need no lock
  struct stat status{};
  ASSERT_EQ(::stat(folder_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07, 0u) << "what a machine runs is not everybody's to know";
}

TEST_F(EpochDatabaseTest, RefusesFoldersOfOthers) {
  std::filesystem::create_directory(folder_);
  std::ofstream(folder_ + "/letter.txt") << "Dear Sir";
  const Result<EpochDatabase> claimed = EpochDatabase::claim(folder_);
  ASSERT_FALSE(claimed);
  EXPECT_NE(claimed.error().message.find("no database of epochs"), std::string::npos);
  EXPECT_FALSE(EpochDatabase::open(folder_));
  EXPECT_FALSE(EpochDatabase::open(folder_ + "/nowhere"));
}

TEST_F(EpochDatabaseTest, RefusesALaterVersionAndNonsense) {
  ASSERT_DONE(EpochDatabase::claim(folder_));
  std::ofstream(folder_ + "/version") << "culprit epochs 2\n";
  const Result<EpochDatabase> later = EpochDatabase::open(folder_);
  ASSERT_FALSE(later);
  EXPECT_NE(later.error().message.find("version 2"), std::string::npos);
  EXPECT_FALSE(EpochDatabase::claim(folder_));
  std::ofstream(folder_ + "/version") << std::string(5000, 'x');
  EXPECT_FALSE(EpochDatabase::open(folder_));
}

TEST_F(EpochDatabaseTest, FindsByTimeTheCurrentEpochToo) {
  Result<EpochDatabase> database = EpochDatabase::claim(folder_);
  ASSERT_DONE(database);
  const std::string first = database->path_of_next(1000);
  write(first, make_epoch(1));
  ASSERT_DONE(database->finish(first, 600));
  const int64_t now = ::time(nullptr);
  write(database->path_of_next(now - 5), make_epoch(2), false);
  std::ofstream(folder_ + "/epochs/notes.txt") << "not ours";
  std::filesystem::create_directory(folder_ + "/epochs/20261125T031000Z-600s-1a2b3c4d-9.culprit");

  EXPECT_EQ(database->list().size(), 2u);
  ASSERT_EQ(database->find({0, 2000}).size(), 1u);
  EXPECT_FALSE(database->find({0, 2000}).front().is_current);
  ASSERT_EQ(database->find({now - 2, now + 1}).size(), 1u);
  EXPECT_TRUE(database->find({now - 2, now + 1}).front().is_current);
  EXPECT_TRUE(database->find({2000, 3000}).empty());
}

TEST_F(EpochDatabaseTest, RecoversWhatAKilledDaemonLeft) {
  {
    Result<EpochDatabase> database = EpochDatabase::claim(folder_);
    ASSERT_DONE(database);
    write(database->path_of_next(1000), make_epoch(7), false);
    std::ofstream(folder_ + "/current/half.tmp") << "half";
    std::ofstream(database->path_of_next(2000)) << "no database at all";
  }
  Result<EpochDatabase> database = EpochDatabase::claim(folder_);
  ASSERT_DONE(database);
  EXPECT_EQ(database->remarks().size(), 2u);
  const std::vector<EpochFile> files = database->list();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].name.length_s, 600u);
  EXPECT_FALSE(files[0].is_current);
  const Result<MergedEpochs> merged = merge_epochs(files);
  ASSERT_DONE(merged);
  EXPECT_EQ(samples_of(merged->profile), 7u);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/current"));
  EXPECT_FALSE(std::filesystem::is_empty(folder_ + "/damaged"));
  // The number is not given out again.
  const auto next = parse_epoch_name(database->path_of_next(3000).substr(folder_.size() + 9));
  ASSERT_TRUE(next.has_value());
  EXPECT_GT(next->first, files[0].name.first);
}

TEST_F(EpochDatabaseTest, RemovesWhatACompactionLeft) {
  std::string part;
  {
    Result<EpochDatabase> database = EpochDatabase::claim(folder_);
    ASSERT_DONE(database);
    const std::string path = database->path_of_next(1000);
    write(path, make_epoch(1));
    Result<std::string> finished = database->finish(path, 600);
    ASSERT_DONE(finished);
    part = *finished;
    EpochName whole = *parse_epoch_name(part.substr(part.rfind('/') + 1));
    whole.last += 5;
    write(folder_ + "/epochs/" + format_epoch_name(whole), make_epoch(6));
    EXPECT_EQ(database->find({}).size(), 1u);
  }
  ASSERT_DONE(EpochDatabase::claim(folder_));
  EXPECT_FALSE(file_exists(part));
}

TEST_F(EpochDatabaseTest, MergingConservesCountsAndTime) {
  Result<EpochDatabase> database = EpochDatabase::claim(folder_);
  ASSERT_DONE(database);
  uint64_t expected = 0;
  for (uint64_t i = 1; i <= 5; ++i) {
    const std::string path = database->path_of_next(static_cast<int64_t>(1000 * i));
    write(path, make_epoch(i * i, i == 3 ? 2'000'003 : 1'001'003));
    ASSERT_DONE(database->finish(path, 600));
    expected += i * i;
  }
  const Result<MergedEpochs> merged = merge_epochs(database->find({}));
  ASSERT_DONE(merged);
  const Profile& all = merged->profile;
  EXPECT_EQ(merged->epochs, 5u);
  EXPECT_EQ(samples_of(all), expected);
  EXPECT_EQ(all.runs.size(), 5u);
  EXPECT_EQ(all.images.size(), 1u);
  EXPECT_EQ(all.processes.size(), 1u) << "commands of one name are one, whatever the epoch";
  ASSERT_EQ(all.events.size(), 1u) << "a changed rate makes no second event";
  EXPECT_EQ(all.events[0].period, 0u) << "it varies";
  ASSERT_TRUE(find_idle_time(all).has_value());
  EXPECT_EQ(find_idle_time(all)->idle_ns, 500u);
  EXPECT_TRUE(all.ledger.notes().empty()) << all.ledger.notes().front();
}

TEST_F(EpochDatabaseTest, ProcessesStayApartWhereThatIsWanted) {
  Result<EpochDatabase> database = EpochDatabase::claim(folder_);
  ASSERT_DONE(database);
  int64_t start_s = 1000;
  for (const uint32_t pid : {7u, 8u, 7u, 0u}) {
    Profile epoch = make_epoch(10 + pid);
    epoch.processes[0].pid = pid;
    start_s += 600;
    const std::string path = database->path_of_next(start_s);
    write(path, epoch);
    ASSERT_DONE(database->finish(path, 600));
  }
  const Result<MergedEpochs> apart =
      merge_epochs(database->find({}), Projection::Processes::by_pid);
  ASSERT_DONE(apart);
  std::map<uint32_t, uint64_t> samples;
  for_each_row(apart->profile.histograms, [&](const HistogramRow& row) {
    const ProcessId process = apart->profile.contexts[row.context.value].process;
    EXPECT_EQ(apart->profile.strings.text(apart->profile.processes[process.value].name), "cc1");
    samples[apart->profile.processes[process.value].pid] += row.cell.samples;
  });
  EXPECT_EQ(samples, (std::map<uint32_t, uint64_t>{{0, 10}, {7, 34}, {8, 18}}));
  const Result<MergedEpochs> together = merge_epochs(database->find({}));
  ASSERT_DONE(together);
  EXPECT_EQ(together->profile.processes.size(), 1u);
}

TEST_F(EpochDatabaseTest, ADamagedEpochIsMissingAndSaid) {
  Result<EpochDatabase> database = EpochDatabase::claim(folder_);
  ASSERT_DONE(database);
  const std::string good = database->path_of_next(1000);
  write(good, make_epoch(4));
  ASSERT_DONE(database->finish(good, 600));
  const std::string bad = database->path_of_next(2000);
  std::ofstream(bad) << "SQLite format 3" << std::string(3000, '\0');
  ASSERT_DONE(database->finish(bad, 600));
  const Result<MergedEpochs> merged = merge_epochs(database->find({}));
  ASSERT_DONE(merged);
  EXPECT_EQ(samples_of(merged->profile), 4u);
  ASSERT_EQ(merged->profile.ledger.notes().size(), 1u);
  EXPECT_NE(merged->profile.ledger.notes()[0].find("an epoch is missing"), std::string::npos);
  EXPECT_FALSE(merge_epochs(database->find({2000, 3000})));
  EXPECT_FALSE(merge_epochs({}));
}

// ---- Thinning out. ----

EpochFile file_at(int64_t start_s, uint32_t number, uint64_t size_bytes = 100) {
  const EpochName name{start_s, 600, "1a2b3c4d", number, number};
  return {name, "/db/epochs/" + format_epoch_name(name), size_bytes, false};
}

Keeping keep_all() {
  return {.forget_after_s = 0, .most_bytes = 0, .least_free_bytes = 0};
}

std::vector<std::vector<uint32_t>> numbers_of(const ThinningPlan& plan) {
  std::vector<std::vector<uint32_t>> numbers;
  for (const auto& group : plan.merges) {
    numbers.emplace_back();
    for (const EpochFile& file : group) numbers.back().push_back(file.name.first);
  }
  return numbers;
}

TEST(ThinningPlan, MergesOldEpochsByTheHourThenByTheDay) {
  // Hours of two days: 0 to 2 h, in epochs of ten minutes.
  std::vector<EpochFile> files;
  for (uint32_t i = 0; i < 12; ++i) files.push_back(file_at(i * 600, i + 1));
  const int64_t day_s = 86'400;
  EXPECT_TRUE(plan_thinning(files, keep_all(), 7'200, 0, 0).merges.empty());
  using Groups = std::vector<std::vector<uint32_t>>;
  EXPECT_EQ(numbers_of(plan_thinning(files, keep_all(), day_s + 3'601, 0, 0)),
            (Groups{{1, 2, 3, 4, 5, 6}}));
  EXPECT_EQ(numbers_of(plan_thinning(files, keep_all(), day_s + 7'201, 0, 0)),
            (Groups{{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12}}));
  EXPECT_EQ(numbers_of(plan_thinning(files, keep_all(), 8 * day_s, 0, 0)).size(), 1u);
}

// The clock was set back: the second epoch lies in another hour than its neighbours, which must
// not be merged around it: their numbers would say that it is one of their parts.
TEST(ThinningPlan, MergesNeighboursOnly) {
  const std::vector<EpochFile> files = {file_at(7'200, 1), file_at(600, 2), file_at(7'800, 3),
                                        file_at(8'400, 4)};
  EXPECT_EQ(numbers_of(plan_thinning(files, keep_all(), 200'000, 0, 0)),
            (std::vector<std::vector<uint32_t>>{{3, 4}}));
}

TEST(ThinningPlan, RemovesTheOldestAndNeverTheCurrentOne) {
  std::vector<EpochFile> files;
  for (uint32_t i = 0; i < 4; ++i) files.push_back(file_at(i * 600, i + 1));
  files.push_back(file_at(-100'000, 5));
  files.back().is_current = true;
  const auto removed = [&](const Keeping& keeping, int64_t now_s, uint64_t free_bytes) {
    std::vector<uint32_t> numbers;
    for (const EpochFile& file : plan_thinning(files, keeping, now_s, 1'000, free_bytes).removals)
      numbers.push_back(file.name.first);
    return numbers;
  };
  Keeping by_age = keep_all();
  by_age.forget_after_s = 1'000;
  EXPECT_EQ(removed(by_age, 2'201, 0), (std::vector<uint32_t>{1, 2}));
  Keeping by_size = keep_all();
  by_size.most_bytes = 1'300;  // 1,500 are there, of which 1,000 are no epochs
  EXPECT_EQ(removed(by_size, 2'400, 0), (std::vector<uint32_t>{1, 2}));
  by_size.most_bytes = 1;
  EXPECT_EQ(removed(by_size, 2'400, 0), (std::vector<uint32_t>{1, 2, 3, 4}));
  Keeping by_space = keep_all();
  by_space.least_free_bytes = 50;
  EXPECT_EQ(removed(by_space, 2'400, 20), (std::vector<uint32_t>{1}));
  EXPECT_TRUE(removed(keep_all(), 1'000'000'000, 0).empty());
}

TEST(ThinningPlan, KeepsTheNewestWhereRemovingThemWouldNotHelp) {
  std::vector<EpochFile> files;  // of 100 bytes each
  for (uint32_t i = 0; i < 4; ++i) files.push_back(file_at(i * 600, i + 1));
  const auto removed = [&](uint64_t least_free_bytes) {
    Keeping keeping = keep_all();
    keeping.least_free_bytes = least_free_bytes;
    const ThinningPlan plan = plan_thinning(files, keeping, 2'400, 0, 0);
    EXPECT_EQ(plan.removals.size(), plan.removals_for_space.size());
    return plan.removals.size();
  };
  EXPECT_EQ(removed(300), 3u);
  EXPECT_EQ(removed(1'000), 4u);  // a sixteenth, 62 bytes, is less than one of them
  EXPECT_EQ(removed(3'200), 2u);  // 200 bytes may stay
  EXPECT_EQ(removed(6'400), 0u);
}

TEST_F(EpochDatabaseTest, SaysWhatWentForWantOfSpace) {
  Result<EpochDatabase> database = EpochDatabase::claim(folder_);
  ASSERT_DONE(database);
  const std::string path = database->path_of_next(0);
  write(path, make_epoch(4));
  ASSERT_DONE(database->finish(path, 600));
  struct statvfs space{};
  ASSERT_EQ(::statvfs(folder_.c_str(), &space), 0);
  const uint64_t free_bytes = uint64_t{space.f_bavail} * space.f_frsize;
  Keeping keeping = keep_all();
  keeping.least_free_bytes = 2 * free_bytes + 1'000'000;
  EXPECT_EQ(thin_out(*database, keeping, 600).removed.epochs, 0u) << "too little to matter";
  const uint64_t size_bytes = database->list().at(0).size_bytes;
  keeping.least_free_bytes = free_bytes + size_bytes;
  const Thinned done = thin_out(*database, keeping, 600);
  if (done.removed.epochs == 0) GTEST_SKIP() << "others freed space meanwhile";
  EXPECT_EQ(done.removed.bytes, size_bytes);
  EXPECT_TRUE(database->list().empty());
}

TEST_F(EpochDatabaseTest, ThinningConservesCounts) {
  Result<EpochDatabase> database = EpochDatabase::claim(folder_);
  ASSERT_DONE(database);
  uint64_t expected = 0;
  for (uint64_t i = 0; i < 8; ++i) {
    const std::string path = database->path_of_next(static_cast<int64_t>(600 * i));
    write(path, make_epoch(i + 1));
    ASSERT_DONE(database->finish(path, 600));
    expected += i + 1;
  }
  EXPECT_TRUE(thin_out(*database, keep_all(), 100'000).problems.empty());  // by the hour
  EXPECT_EQ(database->list().size(), 2u);
  const Result<MergedEpochs> by_hour = merge_epochs(database->find({}));
  ASSERT_DONE(by_hour);
  EXPECT_EQ(samples_of(by_hour->profile), expected);
  EXPECT_TRUE(thin_out(*database, keep_all(), 1'000'000).problems.empty());  // by the day
  ASSERT_EQ(database->list().size(), 1u);
  EXPECT_EQ(database->list()[0].name.length_s, 4800u);
  const Result<MergedEpochs> by_day = merge_epochs(database->find({}));
  ASSERT_DONE(by_day);
  EXPECT_EQ(samples_of(by_day->profile), expected);
  EXPECT_EQ(by_day->profile.runs.size(), 8u) << "what is known of each epoch stays";
  EXPECT_EQ(find_idle_time(by_day->profile)->idle_ns, 800u);
}

TEST_F(EpochDatabaseTest, ThinningLeavesAloneWhatItCannotRead) {
  Result<EpochDatabase> database = EpochDatabase::claim(folder_);
  ASSERT_DONE(database);
  const std::string good = database->path_of_next(0);
  write(good, make_epoch(4));
  ASSERT_DONE(database->finish(good, 600));
  const std::string bad = database->path_of_next(600);
  std::ofstream(bad) << "no database";
  ASSERT_DONE(database->finish(bad, 600));
  EXPECT_EQ(thin_out(*database, keep_all(), 100'000).problems.size(), 1u);
  EXPECT_EQ(database->list().size(), 2u);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/current"));
}

TEST_F(EpochDatabaseTest, FactsThatNoEpochNeedsGo) {
  Result<EpochDatabase> database = EpochDatabase::claim(folder_);
  ASSERT_DONE(database);
  const int64_t now = ::time(nullptr);
  for (const char* name : {"/old.culprit", "/new.culprit"}) {
    std::ofstream(database->facts_folder() + name) << "facts";
  }
  const timespec then[2] = {{now - 100'000, 0}, {now - 100'000, 0}};
  ::utimensat(AT_FDCWD, (database->facts_folder() + "/old.culprit").c_str(), then, 0);
  Keeping keeping = keep_all();
  keeping.forget_after_s = 86'400;
  EXPECT_TRUE(thin_out(*database, keeping, now).problems.empty());
  EXPECT_FALSE(file_exists(database->facts_folder() + "/old.culprit"));
  EXPECT_TRUE(file_exists(database->facts_folder() + "/new.culprit"));
}

}  // namespace
}  // namespace culprit
