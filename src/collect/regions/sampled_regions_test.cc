#include "collect/regions/sampled_regions.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <unistd.h>

#include "model/region_words.h"

namespace culprit {
namespace {

constexpr uint32_t kPid = 100;

/// A folder as the shim leaves it: process 100 with a parallel construct (1) around a critical
/// section (2), and one thread's log. Its clock is CLOCK_MONOTONIC.
class SampledRegionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "regions.XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    paths_->magic = CULPRIT_PATHS_MAGIC;
    paths_->pid = kPid;
    paths_->path_count = 3;
    paths_->paths[1] = {0, CULPRIT_KIND_PARALLEL, 0, 0x400200, 0, 1, 0};
    paths_->paths[2] = {1, CULPRIT_KIND_CRITICAL, 0, 0x400210, 0x400220, 0, 0};
    log_->magic = CULPRIT_LOG_MAGIC;
    write_paths();
    load(500);
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  void tell(uint64_t time_ns, uint16_t path, uint16_t state = CULPRIT_STATE_INSIDE,
            uint32_t tid = kPid) {
    log_->changes[log_->count++ % CULPRIT_LOG_CHANGES] = {time_ns, tid, path, state};
  }
  void write_paths() { write("100.1.paths", paths_.get(), sizeof *paths_); }
  void load(uint64_t time_ns) {
    const culprit_region_loaded row{time_ns, kPid, 0, "mill"};
    write(CULPRIT_LOADED_FILE, &row, sizeof row, std::ios::app);
  }
  void write_log() { write("100.1.0.log", log_.get(), sizeof *log_); }
  void write(const std::string& name, const void* bytes, size_t size,
             std::ios::openmode mode = std::ios::trunc) {
    std::ofstream(folder_ / name, std::ios::binary | mode)
        .write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  }
  void take() {
    write_log();
    regions().take();
  }
  SampledRegions& regions() {
    if (!regions_) regions_ = std::make_unique<SampledRegions>(folder_, ClockMoment{});
    return *regions_;
  }

  /// "critical < parallel", "waiting < parallel", "[not known]", "".
  std::string find(uint64_t time_ns, uint32_t tid = kPid) {
    const auto locate = [](RunAddress at) { return Location{ImageId(0u), FileOffset(at.value)}; };
    RegionId id = regions().find(kPid, tid, time_ns, locate, builder_);
    const Profile& profile = builder_.profile();
    std::string text;
    for (; !id.is_all(); id = profile.regions.at(id.value).parent) {
      text += (text.empty() ? "" : " < ") + profile.strings.text(profile.regions.at(id.value).kind);
    }
    return text;
  }

  std::filesystem::path folder_;
  std::unique_ptr<culprit_region_paths> paths_ = std::make_unique<culprit_region_paths>();
  std::unique_ptr<culprit_region_log> log_ = std::make_unique<culprit_region_log>();
  std::unique_ptr<SampledRegions> regions_;
  ProfileBuilder builder_;
};

TEST_F(SampledRegionsTest, ASampleIsInWhatTheThreadWasInBefore) {
  tell(1000, 1);
  tell(2000, 2, CULPRIT_STATE_WAITING);
  tell(3000, 2);
  tell(4000, 1);
  tell(5000, 0);
  take();
  EXPECT_EQ(find(999), "");
  EXPECT_EQ(find(1000), "parallel");
  EXPECT_EQ(find(2500), "waiting < critical < parallel");
  EXPECT_EQ(find(3999), "critical < parallel");
  EXPECT_EQ(find(4000), "parallel");
  EXPECT_EQ(find(9000), "");
  EXPECT_EQ(find(3500, 7), "") << "a thread that met no construct";
}

TEST_F(SampledRegionsTest, WhatIsOverwrittenBeforeItIsTakenIsNotKnown) {
  tell(1000, 1);
  take();
  for (uint64_t i = 0; i < CULPRIT_LOG_CHANGES + 10; ++i) tell(2000 + i, 2);
  take();
  EXPECT_EQ(find(1500), std::string(region::kNotKnown));
  // 65,546 changes, the last of which has number 65,546: the oldest that is left and not about to
  // be overwritten is number 12, of 2,011 ns.
  EXPECT_EQ(find(2010), std::string(region::kNotKnown));
  EXPECT_EQ(find(2000 + CULPRIT_LOG_CHANGES), "critical < parallel");
}

TEST_F(SampledRegionsTest, ThreadsOfOneSlotAreApart) {
  tell(1000, 1);
  tell(2000, 0);
  tell(3000, 2, CULPRIT_STATE_INSIDE, 101);
  take();
  EXPECT_EQ(find(3500), "");
  EXPECT_EQ(find(3500, 101), "critical < parallel");
  EXPECT_EQ(find(2500, 101), "");
}

TEST_F(SampledRegionsTest, AnotherProgramIsInNoRegion) {
  tell(1000, 1);
  take();
  regions().exec(kPid, 2000);
  load(2100);
  take();
  EXPECT_EQ(find(1500), "parallel");
  EXPECT_EQ(find(2500), "");
}

TEST_F(SampledRegionsTest, AProgramEndsWithItsLastThreadOrAtTheNextProgram) {
  take();
  RegionProcess process;
  process.pid = kPid;
  process.start_ticks = 1000;
  EXPECT_GT(regions().find_end_ticks(process), 1'000'000u) << "nobody saw it end: now";
  regions().exit(kPid, 900);  // another process that had this number
  EXPECT_GT(regions().find_end_ticks(process), 1'000'000u);
  regions().exit(kPid, 5000);
  regions().exit(kPid, 4000);
  EXPECT_EQ(regions().find_end_ticks(process), 5000u);
  regions().exec(kPid, 500);  // as it began
  EXPECT_EQ(regions().find_end_ticks(process), 5000u);
  regions().exec(kPid, 3000);
  EXPECT_EQ(regions().find_end_ticks(process), 3000u);
}

TEST_F(SampledRegionsTest, AProgramWithoutTheShimIsInRegionsThatNobodyKnows) {
  tell(1000, 1);
  take();
  EXPECT_EQ(find(900), "");
  regions().exec(kPid, 2000);  // a statically linked one
  EXPECT_EQ(find(1500), "parallel");
  EXPECT_EQ(find(2500), std::string(region::kNotKnown));
}

TEST_F(SampledRegionsTest, ForgettingKeepsWhatStillHolds) {
  tell(1000, 1);
  tell(2000, 2);
  take();
  regions().forget_before(1'000'000);
  EXPECT_EQ(find(2'000'000), "critical < parallel");
}

TEST_F(SampledRegionsTest, ThreadsWithoutALogAreNotKnown) {
  paths_->flags = CULPRIT_NO_LOG;
  write_paths();
  tell(1000, 1);
  take();
  EXPECT_EQ(find(1500), "parallel");
  EXPECT_EQ(find(1500, 7), std::string(region::kNotKnown));
}

TEST_F(SampledRegionsTest, WhatCannotBeIsNotKnownAndDoesNoHarm) {
  tell(1000, 3);                  // there are paths 1 and 2
  tell(2000, CULPRIT_MAX_PATHS);  // there never are so many
  tell(3000, 1, CULPRIT_STATES);
  tell(UINT64_MAX, 1);  // in the future: it counts from now on
  take();
  for (const uint64_t time_ns : {1000, 2000, 3000}) {
    EXPECT_EQ(find(time_ns), std::string(region::kNotKnown)) << time_ns;
  }
  EXPECT_EQ(find(UINT64_MAX), "parallel");
  log_->count = 1;  // fewer than before
  take();
  tell(4000, 2);
  take();
  EXPECT_EQ(find(3500), std::string(region::kNotKnown));
  std::filesystem::resize_file(folder_ / "100.1.0.log", 100);
  regions().take();
  std::filesystem::resize_file(folder_ / "100.1.paths", 10);
  regions().take();
}

TEST_F(SampledRegionsTest, RandomBytesNeverDoHarm) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    for (size_t i = 0; i < 64; ++i)
      log_->changes[i] = {random(), kPid, uint16_t(random()), uint16_t(random())};
    log_->count = random() % 100'000 + static_cast<uint64_t>(round);
    take();
    find(random());
    regions().exec(kPid, random());
    regions().forget_before(random());
  }
}

}  // namespace
}  // namespace culprit
