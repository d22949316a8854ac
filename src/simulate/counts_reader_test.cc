#include "simulate/counts_reader.h"

#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"

namespace culprit {
namespace {

namespace file = counts_file;

/// A counts file of two sites, a block of both that ran five times and one core, to spoil.
class CountsReader : public testing::Test {
 protected:
  CountsReader() : fd_(::memfd_create("counts", MFD_CLOEXEC)) {
    header_.magic = file::kMagic;
    header_.layout = file::kLayout;
    header_.pid = 42;
    header_.sites = 3;
    header_.blocks = 2;
    header_.block_sites = 2;
    header_.mappings = 2;
    header_.text_bytes = 7;
    header_.cores = 1;
    put(file::kSitesStart + sizeof(file::Site), site(0x1000, 1));
    put(file::kSitesStart + 2 * sizeof(file::Site), site(0x1004, 1));
    put(file::kBlocksStart + sizeof(file::Block), file::Block{0, 2, -4, 0});
    put(file::kBlockSitesStart, uint32_t{1});
    put(file::kBlockSitesStart + 4, uint32_t{2});
    put(file::kMappingsStart + sizeof(file::MappedRange),
        file::MappedRange{0x1000, 0x2000, 0, 9, 8, 1, 1, 0});
    write("\0a.out", 7, file::kTextStart);
    put(file::core_start(0) + file::kRunsInCore + sizeof(file::BlockRuns), file::BlockRuns{5, 3});
    put(file::core_start(0) + file::kAccessesInCore + 2 * sizeof(file::SiteAccesses),
        file::SiteAccesses{{10, 80, 0, 0}});
    file::SiteCounts counts{};
    counts.value[static_cast<size_t>(file::Counter::mispredicted)] = 2;
    put(file::core_start(0) + file::kCountsInCore + 2 * sizeof counts, counts);
  }

  static file::Site site(uint64_t address, uint32_t mapping) {
    file::Site result{};
    result.address = address;
    result.mapping = mapping;
    result.size = 4;
    return result;
  }

  void write(const void* bytes, size_t size, uint64_t at) const {
    ASSERT_EQ(::pwrite(fd_.get(), bytes, size, static_cast<off_t>(at)), static_cast<ssize_t>(size));
  }
  template <class T>
  void put(uint64_t at, const T& value) const {
    write(static_cast<const void*>(&value), sizeof value, at);
  }
  void put_core(uint32_t number, const file::CoreHeader& core,
                const std::vector<file::Target>& targets) const {
    write(static_cast<const void*>(&core), sizeof core, file::core_start(number));
    write(targets.data(), targets.size() * sizeof(file::Target),
          file::core_start(number) + file::kTargetsInCore + sizeof(file::Target));
  }
  /// What a file says of the process, and of each thread.
  struct Read {
    ProcessCounts process;
    std::vector<ThreadCounts> threads;
  };
  Result<Read> read() {
    put(0, header_);
    ASSIGN_OR_RETURN(const CountsFile file, CountsFile::read(fd_.get(), "test"));
    Read all{file.process(), {}};
    RETURN_IF_ERROR(
        file.visit_threads([&](const ThreadCounts& thread) { all.threads.push_back(thread); }));
    return all;
  }
  static uint64_t value(const ThreadCounts& counts, size_t site, file::Counter counter) {
    return counts.counts[site].value[static_cast<size_t>(counter)];
  }
  void expect_refused(const char* reason) {
    const Result<Read> counts = read();
    ASSERT_FALSE(counts.has_value());
    EXPECT_NE(counts.error().message.find(reason), std::string::npos) << counts.error().message;
  }

  Fd fd_;
  file::Header header_{};
};

TEST_F(CountsReader, AddsRunsOfBlocksToTheirSites) {
  const Result<Read> counts = read();
  ASSERT_TRUE(counts.has_value()) << counts.error().message;
  EXPECT_EQ(counts->process.pid, 42u);
  EXPECT_EQ(counts->threads.at(0).executions, (std::vector<uint64_t>{0, 5, 5}));
  EXPECT_EQ(value(counts->threads.at(0), 2, file::Counter::loads), 10u);
  EXPECT_EQ(value(counts->threads.at(0), 2, file::Counter::load_bytes), 80u);
  EXPECT_EQ(value(counts->threads.at(0), 2, file::Counter::taken), 3u);
  EXPECT_EQ(value(counts->threads.at(0), 1, file::Counter::taken), 0u);
  EXPECT_EQ(value(counts->threads.at(0), 2, file::Counter::mispredicted), 2u);
  EXPECT_EQ(counts->process.paths, (std::vector<std::string>{"", "a.out"}));
}

// By hand: site 1 ran five times, and loads 4 bytes and stores 8 each time; what is counted of site
// 2, which is not known, stays.
TEST_F(CountsReader, KnownAccessesFollowFromExecutions) {
  file::Site known = site(0x1000, 1);
  known.flags = file::kKnownAccesses;
  known.load_bytes = 4;
  known.store_bytes = 8;
  put(file::kSitesStart + sizeof(file::Site), known);
  const Result<Read> counts = read();
  ASSERT_TRUE(counts.has_value()) << counts.error().message;
  EXPECT_EQ(value(counts->threads.at(0), 1, file::Counter::loads), 5u);
  EXPECT_EQ(value(counts->threads.at(0), 1, file::Counter::load_bytes), 20u);
  EXPECT_EQ(value(counts->threads.at(0), 1, file::Counter::stores), 5u);
  EXPECT_EQ(value(counts->threads.at(0), 1, file::Counter::store_bytes), 40u);
  EXPECT_EQ(value(counts->threads.at(0), 2, file::Counter::loads), 10u);
  EXPECT_EQ(value(counts->threads.at(0), 2, file::Counter::stores), 0u);
}

// By hand: site 1 ran five times, and two of its loads were at an object for which there was no
// room. It has made five.
TEST_F(CountsReader, KnownAccessesAtAnObjectWithoutRoomAreNotCountedTwice) {
  header_.has_objects = 1;
  header_.objects = 1;
  put(file::kObjectsStart, file::Object{});
  file::Site known = site(0x1000, 1);
  known.flags = file::kKnownAccesses;
  known.load_bytes = 4;
  put(file::kSitesStart + sizeof(file::Site), known);
  put(file::core_start(0) + file::kAccessesInCore + sizeof(file::SiteAccesses),
      file::SiteAccesses{{2, 0, 0, 0}});
  const Result<Read> counts = read();
  ASSERT_TRUE(counts.has_value()) << counts.error().message;
  EXPECT_EQ(value(counts->threads.at(0), 1, file::Counter::loads), 5u);
  EXPECT_EQ(value(counts->threads.at(0), 1, file::Counter::load_bytes), 20u);
}

// By hand: of 1000 loads by one instruction 100 were counted, at the first object; of the others 8
// were looked at, 2 of them of the first and 6 of the second one. So 900 are shared by 1 to 3. The
// variance of either share: p = 4 / 12, and 900 * 900 * p * (1 - p) / 12.
TEST_F(CountsReader, AccessesThatWereLookedAtTellWhoseTheOthersAre) {
  header_.has_objects = 1;
  header_.objects = 1;
  put(file::kObjectsStart, file::Object{});
  header_.sample_classes = 4;
  header_.sites = 5;
  put(file::core_start(0) + file::kMissesInCore + 4 * sizeof(file::SampledMisses),
      file::SampledMisses{});
  file::Site known = site(0x1000, 1);
  known.flags = file::kKnownAccesses;
  known.load_bytes = 8;
  const auto put_loads = [&](uint32_t number, uint64_t loads, uint64_t looked_at) {
    put(file::kSitesStart + number * sizeof known, known);
    if (number == 1) return;
    put(file::kSiteObjectsStart + number * sizeof(file::SiteObject),
        file::SiteObject{1, 0, 0, 0, 0, 0});
    put(file::core_start(0) + file::kAccessesInCore + number * sizeof(file::SiteAccesses),
        file::SiteAccesses{{loads, looked_at, 0, 0}});
  };
  put_loads(1, 0, 0);
  put_loads(3, 100 + 2 * file::kLookedAtPeriod, 2 * file::kLookedAtPeriod);
  put_loads(4, 6 * file::kLookedAtPeriod, 6 * file::kLookedAtPeriod);
  put(file::core_start(0) + file::kRunsInCore + sizeof(file::BlockRuns), file::BlockRuns{1000, 0});
  const Result<Read> counts = read();
  ASSERT_TRUE(counts.has_value()) << counts.error().message;
  const ThreadCounts& thread = counts->threads.at(0);
  EXPECT_EQ(value(thread, 1, file::Counter::loads), 0U);
  EXPECT_EQ(value(thread, 1, file::Counter::load_bytes), 0U);
  EXPECT_EQ(value(thread, 3, file::Counter::loads), 100U + 225);
  EXPECT_EQ(value(thread, 3, file::Counter::load_bytes), 325U * 8);
  EXPECT_EQ(value(thread, 4, file::Counter::loads), 675U);
  EXPECT_DOUBLE_EQ(thread.access_variance[3].loads, 15'000);
  EXPECT_DOUBLE_EQ(thread.access_variance[4].loads, 15'000);
  EXPECT_EQ(thread.access_variance[4].stores, 0);
}

// The block ran five times in the first thread, twice in the third, and 7 and 8 times in two of
// those that came later. (The second one has a part, in which it counted nothing.)
TEST_F(CountsReader, ThreadsAreApartAndThoseBeyondTheMostTogether) {
  header_.cores = file::shared_core(1) + 1;
  header_.threads = 300;
  file::CoreHeader core{};
  core.instructions = 1;
  const auto add_thread = [&](uint32_t number, uint32_t tid, std::string_view name, uint64_t runs) {
    core.tid = tid;
    std::memset(core.name, 0, sizeof core.name);
    name.copy(core.name, sizeof core.name);
    put(file::core_start(number), core);
    put(file::core_start(number) + file::kRunsInCore + sizeof(file::BlockRuns),
        file::BlockRuns{runs, 0});
  };
  add_thread(2, 44, "sixteen letters!", 2);  // none of them ends it
  add_thread(file::shared_core(0), 46, "seven", 7);
  add_thread(file::shared_core(1), 47, "eight", 8);
  ASSERT_EQ(::ftruncate(fd_.get(), static_cast<off_t>(file::core_start(header_.cores))), 0);
  const Result<Read> counts = read();
  ASSERT_TRUE(counts.has_value()) << counts.error().message;
  EXPECT_EQ(counts->process.threads_begun, 300U);
  ASSERT_EQ(counts->threads.size(), 3U);
  EXPECT_EQ(counts->threads[0].executions[1], 5U);
  EXPECT_EQ(counts->threads[0].number, 0U);
  EXPECT_EQ(value(counts->threads[0], 2, file::Counter::loads), 10U);
  EXPECT_EQ(counts->threads[1].executions[1], 2U);
  EXPECT_EQ(counts->threads[1].number, 2U);
  EXPECT_EQ(counts->threads[1].tid, 44U);
  EXPECT_EQ(counts->threads[1].name, "sixteen letters!");
  EXPECT_EQ(value(counts->threads[1], 2, file::Counter::loads), 0U);
  EXPECT_EQ(counts->threads[2].executions[1], 15U);
  EXPECT_EQ(counts->threads[2].number, file::kThreadsApart);
  EXPECT_EQ(counts->threads[2].tid, 0U);
  EXPECT_EQ(counts->threads[2].name, kOtherThreads);
  EXPECT_EQ(counts->threads[2].ran.size(), 2U);
}

// The block's two sites take 840 and 1680 ticks a run; the second stalled for 99.
TEST_F(CountsReader, AddsTicksOfBlocksAndStalls) {
  header_.has_cycles = 1;
  file::StaticTicks ticks{};
  ticks.ticks[static_cast<size_t>(simulate::CycleClass::base)] = 840;
  put(file::kStaticStart, ticks);
  ticks.ticks[static_cast<size_t>(simulate::CycleClass::base)] = 1680;
  put(file::kStaticStart + sizeof ticks, ticks);
  simulate::SiteTicks stalls;
  stalls.stalls[simulate::CycleClass::load_l2] = 99;
  stalls.busy.wrong_path = 7;
  put(file::core_start(0) + file::kTicksInCore + 2 * sizeof stalls, stalls);
  put(file::core_start(0) + file::kTicksInCore + 3 * sizeof stalls, stalls);  // no site's
  simulate::ReplayTicks replays{};
  replays.ticks.front() = 11;
  put(file::core_start(0) + file::kReplaysInCore + 2 * sizeof replays, replays);
  put(file::core_start(0) + file::kReplaysInCore + 3 * sizeof replays, replays);  // no site's
  const Result<Read> counts = read();
  ASSERT_TRUE(counts.has_value()) << counts.error().message;
  EXPECT_EQ(counts->threads.at(0).ticks[1].stalls.total(), 5U * 840);
  EXPECT_EQ(counts->threads.at(0).ticks[2].stalls.total(), 5U * 1680 + 99);
  EXPECT_EQ(counts->threads.at(0).ticks[2].stalls.stalled(), 99U);
  EXPECT_EQ(counts->threads.at(0).ticks[2].busy.wrong_path, 7U);
  EXPECT_EQ(counts->threads.at(0).replays[1].ticks.front(), 0U);
  EXPECT_EQ(counts->threads.at(0).replays[2].ticks.front(), 11U);
}

// Two classes of sets: what lies behind them belongs to none.
TEST_F(CountsReader, AddsMissesOfSampledSets) {
  header_.sample_classes = 2;
  put(file::core_start(0) + file::kMissesInCore + 2 * sizeof(file::SampledMisses),
      file::SampledMisses{{3, 4, 5}});
  const Result<Read> counts = read();
  ASSERT_TRUE(counts.has_value()) << counts.error().message;
  EXPECT_EQ(counts->process.sample_classes, 2U);
  EXPECT_EQ(counts->process.misses[1].misses[0], 0U);
  EXPECT_EQ(counts->process.misses[2].misses[0], 3U);
  EXPECT_EQ(counts->process.misses[2].misses[1], 4U);
  EXPECT_EQ(counts->process.misses[2].misses[2], 0U);
}

TEST_F(CountsReader, RefusesMoreClassesOfSetsThanThereAre) {
  header_.sample_classes = file::kMostSampleClasses + 1;
  expect_refused("sizes of tables");
}

TEST_F(CountsReader, CountsWhatRanOutsideTheRegion) {
  file::CoreHeader core{};
  core.outside_instructions = 77;
  put_core(0, core, {});
  const Result<Read> counts = read();
  ASSERT_TRUE(counts.has_value()) << counts.error().message;
  EXPECT_EQ(counts->process.outside_instructions, 77U);
}

// Two threads are no more told apart: what both have seen is one row. The block's branch goes back
// to its start.
TEST_F(CountsReader, AddsTargetsOfThreads) {
  header_.cores = file::shared_core(1) + 1;
  file::CoreHeader core{};
  core.targets = 3;
  core.other_targets = 5;
  const auto put_thread = [&](uint32_t number, const std::vector<file::Target>& targets) {
    put_core(number, core, targets);
    put(file::core_start(number) + file::kRunsInCore + sizeof(file::BlockRuns),
        file::BlockRuns{1, 0});
  };
  put_thread(0, {{2, 2, 3}, {2, 0, 1}});
  put_thread(file::shared_core(0), {{2, 1, 100}, {2, 0, 7}});
  core.targets = 2;
  put_thread(file::shared_core(1), {{2, 1, 11}});
  ASSERT_EQ(::ftruncate(fd_.get(), static_cast<off_t>(file::core_start(header_.cores))), 0);
  const Result<Read> counts = read();
  ASSERT_TRUE(counts.has_value()) << counts.error().message;
  ASSERT_EQ(counts->threads.size(), 2U);
  ASSERT_EQ(counts->threads[0].targets.size(), 2U);
  EXPECT_EQ(counts->threads[0].targets[1].count, 3U);
  EXPECT_EQ(counts->threads[0].other_targets, 5U);
  const ThreadCounts& others = counts->threads[1];
  ASSERT_EQ(others.targets.size(), 2U);
  EXPECT_EQ(others.targets[0].to, 0U);
  EXPECT_EQ(others.targets[0].count, 7U);
  EXPECT_EQ(others.targets[1].from, 2U);
  EXPECT_EQ(others.targets[1].to, 1U);
  EXPECT_EQ(others.targets[1].count, 111U);
  EXPECT_EQ(others.other_targets, 10U);
  EXPECT_EQ(counts->process.displacements, (std::vector<int32_t>{0, 0, -4}));
}

TEST_F(CountsReader, RefusesTargetsThatAreNoSites) {
  file::CoreHeader core{};
  core.targets = 2;
  put_core(0, core, {{2, 3, 100}});
  expect_refused("target of a branch");
  put_core(0, core, {{3, 1, 100}});
  expect_refused("target of a branch");
}

TEST_F(CountsReader, RefusesMoreTargetsThanTheTableHas) {
  file::CoreHeader core{};
  core.targets = file::kMaxTargets + 1;
  put_core(0, core, {});
  expect_refused("targets of branches");
}

TEST_F(CountsReader, RefusesBlocksThatOverlap) {
  header_.blocks = 3;
  put(file::kBlocksStart + 2 * sizeof(file::Block), file::Block{1, 1, 0, 0});
  expect_refused("block");
}

TEST_F(CountsReader, RefusesSizesBeyondTheTables) {
  header_.sites = file::kMaxSites + 1;
  expect_refused("sizes of tables");
}

TEST_F(CountsReader, RefusesBlocksBeyondTheirList) {
  put(file::kBlocksStart + sizeof(file::Block), file::Block{1, 0xffff'ffff, 0, 0});
  expect_refused("block");
}

TEST_F(CountsReader, RefusesSitesThatAreNot) {
  put(file::kBlockSitesStart, uint32_t{3});
  expect_refused("site of a block");
}

TEST_F(CountsReader, RefusesMappingsThatAreNot) {
  put(file::kSitesStart + sizeof(file::Site), site(0x1000, 2));
  expect_refused("site");
}

TEST_F(CountsReader, RefusesPathsBeyondTheText) {
  put(file::kMappingsStart + sizeof(file::MappedRange),
      file::MappedRange{0x1000, 0x2000, 0, 9, 8, 1, 9, 0});
  expect_refused("path");
}

TEST_F(CountsReader, RefusesOtherVersions) {
  header_.layout = file::kLayout + 1;
  expect_refused("version");
}

TEST_F(CountsReader, RefusesAFileThatIsCutShort) {
  put(0, header_);
  ASSERT_EQ(::ftruncate(fd_.get(), static_cast<off_t>(file::kBlocksStart)), 0);
  EXPECT_FALSE(CountsFile::read(fd_.get(), "test").has_value());
  ASSERT_EQ(::ftruncate(fd_.get(), 100), 0);
  EXPECT_FALSE(CountsFile::read(fd_.get(), "test").has_value());
}

TEST_F(CountsReader, GlancesAtAFileThatIsBeingWritten) {
  put(0, header_);
  put(file::core_start(0), uint64_t{1234});
  put(file::core_start(0) + 8, uint64_t{200});  // rounds of a string instruction
  const Result<CountsSummary> summary = read_counts_summary(fd_.get(), "test");
  ASSERT_TRUE(summary.has_value()) << summary.error().message;
  EXPECT_EQ(summary->executions, 1234u);
  EXPECT_EQ(summary->instructions, 1034u);
  EXPECT_FALSE(summary->has_made_code);
}

}  // namespace
}  // namespace culprit
