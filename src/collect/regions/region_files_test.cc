#include "collect/regions/region_files.h"

#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>

#include "collect/regions/region_profile.h"
#include "model/region_words.h"

namespace culprit {
namespace {

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

/// A parallel construct with a critical section in it, met by one thread.
std::unique_ptr<culprit_region_paths> make_paths() {
  auto paths = std::make_unique<culprit_region_paths>();
  paths->magic = CULPRIT_PATHS_MAGIC;
  paths->pid = 100;
  paths->uses_tsc = 1;
  paths->path_count = 3;
  paths->file_count = 1;
  paths->files[0] = {0x400000, 0x500000, 0x1000, 7, "/opt/bin/mill"};
  paths->paths[1] = {0, CULPRIT_KIND_PARALLEL, 0, 0x400200, 0, 1, 0};
  paths->paths[2] = {1, CULPRIT_KIND_CRITICAL, 0, 0x400210, 0x400220, 0, 0};
  return paths;
}

std::unique_ptr<culprit_region_thread> make_thread() {
  auto thread = std::make_unique<culprit_region_thread>();
  thread->magic = CULPRIT_THREAD_MAGIC;
  thread->tid = 101;
  thread->number = 1;
  thread->threads = 1;
  thread->counters[2].executions = 4;
  thread->counters[2].ticks[CULPRIT_PART_ENTER] = 30;
  thread->counters[2].ticks[CULPRIT_PART_BODY] = 10;
  return thread;
}

TEST(RegionFiles, ReadsWhatTheProtocolSays) {
  const auto paths = make_paths();
  const Result<RegionProcess> process = parse_region_paths(bytes_of(*paths));
  ASSERT_TRUE(process) << process.error().message;
  EXPECT_EQ(process->pid, 100u);
  ASSERT_EQ(process->paths.size(), 3u);
  EXPECT_EQ(process->paths[2].parent, 1u);
  EXPECT_EQ(process->files.at(0).path, "/opt/bin/mill");
  const auto raw = make_thread();
  const Result<RegionThread> thread = parse_region_thread(bytes_of(*raw), 3);
  ASSERT_TRUE(thread) << thread.error().message;
  ASSERT_EQ(thread->counters.size(), 1u);
  EXPECT_EQ(thread->counters[0].path, 2u);
  EXPECT_EQ(thread->counters[0].ticks[CULPRIT_PART_ENTER], 30u);
}

TEST(RegionFiles, ReadsWhatAThreadIsIn) {
  const auto raw = make_thread();
  raw->open = 0xffffffff;  // more than there is room for
  raw->frames[0] = {1, CULPRIT_KIND_PARALLEL, 0, CULPRIT_PART_BODY, 70, 5, nullptr};
  raw->frames[1] = {9, CULPRIT_KIND_NONE, 1, CULPRIT_PART_WAIT, 80, 0, nullptr};
  raw->asked = {90, 0, 2, 0};
  raw->barrier = {90, 0, 9, 0};  // no such path
  const Result<RegionThread> thread = parse_region_thread(bytes_of(*raw), 3);
  ASSERT_TRUE(thread) << thread.error().message;
  ASSERT_EQ(thread->open.size(), size_t{CULPRIT_DEEPEST});
  EXPECT_EQ(thread->open[0].path, 1u);
  EXPECT_EQ(thread->open[0].tasks, 5u);
  EXPECT_EQ(thread->open[1].path, 0u);
  EXPECT_TRUE(thread->open[1].is_wait);
  ASSERT_TRUE(thread->asked);
  EXPECT_EQ(thread->asked->begin, 90u);
  EXPECT_EQ(thread->asked->part, CULPRIT_PART_ENTER);
  EXPECT_FALSE(thread->barrier);
}

TEST(RegionFiles, CountersBeyondThePathsAreNotRead) {
  const auto raw = make_thread();
  EXPECT_TRUE(parse_region_thread(bytes_of(*raw), 2)->counters.empty());
}

TEST(RegionFiles, RefusesWhatDoesNotHoldTogether) {
  const auto fails = [](const auto& damage) {
    const auto paths = make_paths();
    damage(*paths);
    return !parse_region_paths(bytes_of(*paths)).has_value();
  };
  EXPECT_TRUE(fails([](culprit_region_paths& paths) { paths.magic = 0; }));
  EXPECT_TRUE(fails([](culprit_region_paths& paths) { paths.path_count = 0; }));
  EXPECT_TRUE(fails([](culprit_region_paths& paths) { paths.path_count = 0xffffffff; }));
  EXPECT_TRUE(fails([](culprit_region_paths& paths) { paths.file_count = 0xffffffff; }));
  EXPECT_TRUE(fails([](culprit_region_paths& paths) { paths.files[0].end = 0; }));
  EXPECT_TRUE(fails([](culprit_region_paths& paths) { paths.paths[2].parent = 2; }));
  EXPECT_TRUE(fails([](culprit_region_paths& paths) { paths.paths[2].kind = CULPRIT_KINDS; }));
  EXPECT_TRUE(fails([](culprit_region_paths& paths) { paths.paths[2].detail = CULPRIT_DETAILS; }));
  const auto whole = make_paths();
  EXPECT_FALSE(parse_region_paths(bytes_of(*whole).first(sizeof(culprit_region_paths) - 1)));
  EXPECT_FALSE(parse_region_paths({}));
  EXPECT_FALSE(parse_region_thread({}, 3));
}

TEST(RegionFiles, RandomBytesNeverDoHarm) {
  std::mt19937 random(1);
  const auto raw = make_paths();
  for (int round = 0; round < 200; ++round) {
    const auto copy = std::make_unique<culprit_region_paths>(*raw);
    auto* bytes = reinterpret_cast<unsigned char*>(copy.get());
    // The beginning and the first rows are what is read.
    for (int i = 0; i < 8; ++i) {
      bytes[8 + random() % 600] = static_cast<unsigned char>(random());
      bytes[offsetof(culprit_region_paths, paths) + random() % 128] =
          static_cast<unsigned char>(random());
    }
    const Result<RegionProcess> process = parse_region_paths(bytes_of(*copy));
    if (!process) continue;
    RegionFiles files;
    files.processes.push_back(*process);
    const auto thread = make_thread();
    files.processes[0].threads.push_back(*parse_region_thread(bytes_of(*thread), 3));
    Profile profile;
    profile.runs.emplace_back();
    RegionRows rows;
    add_regions(files, 0.5, {}, rows, profile);
    for (size_t i = 0; i < profile.regions.size(); ++i) {
      const RegionId parent = profile.regions[i].parent;
      EXPECT_TRUE(parent.is_all() || parent.value < i);
    }
  }
}

TEST(RegionProfile, TicksBecomeNanosecondsAndPlacesOffsets) {
  RegionFiles files;
  const auto paths = make_paths();
  const auto thread = make_thread();
  files.processes.push_back(*parse_region_paths(bytes_of(*paths)));
  files.processes[0].threads.push_back(*parse_region_thread(bytes_of(*thread), 3));
  Profile profile;
  profile.runs.emplace_back();
  RegionRows rows;
  add_regions(files, 0.5, {}, rows, profile);
  ASSERT_EQ(profile.regions.size(), 2u);
  EXPECT_EQ(profile.regions[1].parent, RegionId(0u));
  // 0x400210 in a mapping of file offset 0x1000 at 0x400000.
  EXPECT_EQ(profile.regions[1].site, (Location{ImageId(0u), FileOffset(0x1210)}));
  EXPECT_EQ(profile.strings.text(profile.images[0].path), "/opt/bin/mill");
  ASSERT_EQ(profile.region_values.size(), 2u);
  EXPECT_EQ(profile.strings.text(profile.region_values[0].part), region::kEnter);
  EXPECT_EQ(profile.region_values[0].value, 15u);  // 30 ticks of half a nanosecond
  EXPECT_EQ(profile.region_values[1].executions, 4u);
  EXPECT_EQ(profile.threads.at(0).ordinal, 1u);
}

TEST(RegionProfile, CountsAreOfTheConstructAndOfWaitingForIt) {
  RegionFiles files;
  const auto paths = make_paths();
  const auto thread = make_thread();
  auto counts = std::make_unique<culprit_region_counts>();
  counts->magic = CULPRIT_COUNTS_MAGIC;
  counts->values[0][0][0] = 99;  // outside of all
  counts->values[2][0][1] = 7;
  counts->values[2][1][0] = 3;
  files.processes.push_back(*parse_region_paths(bytes_of(*paths)));
  files.processes[0].threads.push_back(*parse_region_thread(bytes_of(*thread), 3));
  files.processes[0].threads[0].counts = parse_region_counts(bytes_of(*counts), 3);
  Profile profile;
  profile.runs.emplace_back();
  profile.events.resize(2);
  RegionRows rows;
  add_regions(files, 0.5, {{}, {EventId(0u), EventId(1u)}}, rows, profile);
  std::map<std::pair<std::string, uint32_t>, uint64_t> found;
  for (const RegionValue& value : profile.region_values) {
    if (value.event.is_all()) continue;
    EXPECT_EQ(value.region, RegionId(1u));
    EXPECT_EQ(value.executions, 4u);
    found[{profile.strings.text(value.part), value.event.value}] = value.value;
  }
  EXPECT_EQ((found[{std::string(region::kCounted), 0}]), 0u);
  EXPECT_EQ((found[{std::string(region::kCounted), 1}]), 7u);
  EXPECT_EQ((found[{std::string(region::kCountedWaiting), 0}]), 3u);
  EXPECT_TRUE(parse_region_counts({}, 3).empty());
}

/// A process 100 that ran `sh`, which loaded the shim, and then another program.
std::vector<std::string> notes_of(const std::string& next, const std::string& loaded) {
  RegionFiles files;
  files.loaded = {{1000, 100, "sh"}};
  if (!loaded.empty()) files.loaded.push_back({2000, 100, loaded});
  Profile profile;
  profile.runs.emplace_back();
  for (const std::string& name : {std::string("sh"), next}) {
    profile.processes.push_back({RunId(0u), 100, 1, profile.strings.intern(name)});
  }
  // Between fork and exec a child is what its parent was.
  profile.processes.push_back({RunId(0u), 101, 100, profile.strings.intern("sh")});
  RegionRows rows;
  add_regions(files, 1, {}, rows, profile);
  return profile.ledger.notes();
}

TEST(RegionProfile, ProgramsWithoutTheShimAreNotCovered) {
  EXPECT_TRUE(notes_of("mill", "mill").empty());
  EXPECT_TRUE(notes_of("renamed", "mill").empty());
  const std::vector<std::string> notes = notes_of("static", "");
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0], "regions of these programs are not covered: static");
}

TEST(RegionProfile, FunctionsThatWereNotSeenAreSaid) {
  RegionFiles files;
  files.processes.resize(2);
  files.processes[0].functions_seen = 1;
  files.processes[1].functions_refused = 3;
  Profile profile;
  profile.runs.emplace_back();
  RegionRows rows;
  const std::vector<std::string> remarks =
      add_regions(files, 1, {{"seen", "refused", "nowhere"}, {}}, rows, profile);
  ASSERT_EQ(remarks.size(), 2u);
  EXPECT_NE(remarks[0].find("'refused' are not covered: its code could not"), remarks[0].npos);
  EXPECT_NE(remarks[1].find("'nowhere' are not covered: its file was in no"), remarks[1].npos);
}

}  // namespace
}  // namespace culprit
