#include "simulate/objects/data_objects.h"

#include <gtest/gtest.h>
#include <set>

#include "base/thread_local_place.h"

namespace culprit::objects {
namespace {

constexpr uint64_t kBias = 0x10000;

/// Code at 0x1000, data at 0x4000: a table, and a member of a struct with a name of its own.
ElfObjects two_variables() {
  ElfObjects elf;
  elf.loads = {{0x1000, 0x1000, 0x500, 0x500, true}, {0x2000, 0x4000, 0x100, 0x1000, false}};
  elf.sections = {{".data", 0x4000, 0x100}};
  elf.variables = {{"table", 0x4010, 0x40}, {"counter", 0x4018, 4}};
  elf.allocators = {{"malloc", 0x1200, *find_allocator("malloc")}};
  return elf;
}
constexpr ImagePlace kPlace{"/bin/a.out", 3, kBias + 0x1000, kBias + 0x2000, 0x1000};

TEST(DataObjects, VariablesLieOverSectionsAndSmallOnesOverLargeOnes) {
  DataObjects objects;
  objects.add_image(kPlace, two_variables());
  const auto name_at = [&](uint64_t address) {
    return objects.object(objects.shadow().find(kBias + address)).name;
  };
  EXPECT_EQ(name_at(0x4000), ".data");
  EXPECT_EQ(name_at(0x4010), "table");
  EXPECT_EQ(name_at(0x4018), "counter");
  EXPECT_EQ(name_at(0x401c), "table");
  EXPECT_EQ(name_at(0x4050), ".data");
  EXPECT_EQ(name_at(0x4100), "");
  const Object& table = objects.object(objects.shadow().find(kBias + 0x4010));
  EXPECT_EQ(table.kind, Kind::variable);
  EXPECT_EQ(table.mapping, 3U);
  EXPECT_EQ(table.place, 0x2010U);  // of the file
  EXPECT_EQ(objects.find_allocator(kBias + 0x1200)->size, 0);
  EXPECT_FALSE(objects.find_allocator(0x1200));
}

/// Each thread has a block that ends at its thread pointer.
TEST(DataObjects, VariablesOfThreadsAreOneObjectInAllThreads) {
  ElfObjects elf = two_variables();
  elf.thread_block = {-0x100, {{"own", 0x20, 0x40}}};
  DataObjects objects;
  const auto name_at = [&](uint64_t address) {
    return objects.object(objects.shadow().find(address)).name;
  };
  objects.add_thread(0x50000);  // known before the program's file is
  objects.add_image(kPlace, elf);
  const ObjectNumber own = objects.shadow().find(0x4ff20);
  EXPECT_EQ(objects.object(own).name, "own");
  EXPECT_EQ(objects.object(own).kind, Kind::thread_variable);
  EXPECT_EQ(objects.object(own).place, kThreadLocalPlace + 0x20);
  EXPECT_EQ(name_at(0x4ff1f), "");
  EXPECT_EQ(name_at(0x4ff60), "");
  // Another thread's is in the memory of its stack.
  objects.map({0x80000, 0x90000}, "", {});
  objects.add_thread(0x8f000);
  EXPECT_EQ(objects.note_stack(0x8e000, {}).begin, 0x80000U);
  EXPECT_EQ(objects.shadow().find(0x8ef5f), own);
  EXPECT_EQ(objects.shadow().find(0x8ef60), DataObjects::kStack);
  EXPECT_EQ(objects.find_begin(own, 0x8ef30), 0x8ef20U);
  EXPECT_EQ(objects.find_begin(own, 0x4ff5f), 0x4ff20U);
  EXPECT_FALSE(objects.find_begin(own, 0x4ff60));
  EXPECT_FALSE(objects.find_begin(own, 0x10));
  objects.unmap({0x80000, 0x90000});
  EXPECT_EQ(objects.shadow().find(0x8ef20), kNothing);
  EXPECT_FALSE(objects.find_begin(own, 0x8ef20));
}

TEST(DataObjects, APieceOfAFileMayHaveMoreThanCode) {
  DataObjects objects;
  objects.add_image({"/bin/a.out", 3, kBias, kBias + 0x2000, 0}, two_variables());
  EXPECT_EQ(objects.object(objects.shadow().find(kBias + 0x4010)).name, "table");
  DataObjects others;  // a piece without code tells nothing
  others.add_image({"/bin/a.out", 3, kBias, kBias + 0x1000, 0}, two_variables());
  EXPECT_EQ(others.shadow().find(kBias + 0x4010), kNothing);
}

TEST(DataObjects, ABssThatIsMappedLaterIsOfItsFile) {
  DataObjects objects;
  objects.add_image(kPlace, two_variables());
  objects.map({kBias + 0x4000, kBias + 0x6000}, "", {});
  EXPECT_EQ(objects.object(objects.shadow().find(kBias + 0x4010)).name, "table");
  EXPECT_EQ(objects.object(objects.shadow().find(kBias + 0x5800)).kind, Kind::mapping);
}

TEST(DataObjects, BlocksOfOnePlaceAreOneObject) {
  constexpr uint32_t kHere[] = {5, 9};
  constexpr uint32_t kThere[] = {6, 9};
  DataObjects objects;
  const ObjectNumber first = objects.allocate(0x1000, 24, kHere);
  const ObjectNumber second = objects.allocate(0x1020, 100, kHere);
  const ObjectNumber other = objects.allocate(0x1100, 24, kThere);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, other);
  EXPECT_EQ(objects.object(first).blocks, 2U);
  EXPECT_EQ(objects.object(first).total_bytes, 124U);
  EXPECT_EQ(objects.shadow().find(0x1083), first);
  EXPECT_EQ(objects.shadow().find(0x1110), other);
}

TEST(DataObjects, TheLargestBlocksMayBeObjectsOfTheirOwn) {
  constexpr uint32_t kHere[] = {5};
  DataObjects objects({}, Grouping::instance);
  uint64_t next = 0x10000;
  const auto allocate = [&](uint64_t bytes) {
    return objects.allocate(std::exchange(next, next + 0x100), bytes, kHere);
  };
  const ObjectNumber first = allocate(16);
  EXPECT_EQ(objects.object(first).place, 1U);
  ObjectNumber latest = first;
  for (size_t i = 1; i < DataObjects::kMostInstances; ++i) latest = allocate(16);
  EXPECT_EQ(objects.object(latest).place, DataObjects::kMostInstances);
  EXPECT_EQ(objects.not_apart(), 0U);
  const ObjectNumber site = allocate(16);  // not larger than the others
  EXPECT_EQ(objects.object(site).place, 0U);
  EXPECT_EQ(objects.object(latest).site, site);
  EXPECT_EQ(allocate(8), site);
  EXPECT_EQ(objects.object(site).blocks, 2U);
  EXPECT_TRUE(objects.take_folded().empty());
  const ObjectNumber large = allocate(17);
  EXPECT_EQ(objects.object(large).place, DataObjects::kMostInstances + 3);
  EXPECT_EQ(objects.take_folded(), std::vector<ObjectNumber>{latest});  // the last of the smallest
  EXPECT_TRUE(objects.object(latest).is_folded);
  EXPECT_FALSE(objects.object(first).is_folded);
  EXPECT_EQ(objects.not_apart(), 3U);
  EXPECT_EQ(objects.find_begin(large, next - 0x100 + 3), next - 0x100);
}

TEST(DataObjects, BlocksMayBeToldApartBySize) {
  constexpr uint32_t kHere[] = {5};
  DataObjects objects({}, Grouping::size);
  EXPECT_NE(objects.allocate(0x1000, 24, kHere), objects.allocate(0x1020, 100, kHere));
  EXPECT_EQ(objects.allocate(0x1100, 24, kHere), objects.allocate(0x1200, 24, kHere));
}

TEST(DataObjects, AnAddressIsOfWhoHasItNow) {
  constexpr uint32_t kHere[] = {5};
  constexpr uint32_t kThere[] = {6};
  DataObjects objects;
  objects.map_for_allocator({0x1000, 0x2000});
  const ObjectNumber allocators = objects.shadow().find(0x1000);
  const ObjectNumber first = objects.allocate(0x1010, 24, kHere);
  EXPECT_TRUE(objects.free(0x1010));
  EXPECT_FALSE(objects.free(0x1010));
  EXPECT_EQ(objects.shadow().find(0x1010), first);  // until it is another's
  const ObjectNumber second = objects.allocate(0x1010, 8, kThere);
  EXPECT_NE(first, second);
  EXPECT_EQ(objects.shadow().find(0x1010), second);
  EXPECT_EQ(objects.shadow().find(0x1020), first);
  EXPECT_EQ(objects.shadow().find(0x1030), allocators);
  objects.unmap({0x1000, 0x2000});
  EXPECT_EQ(objects.shadow().find(0x1010), kNothing);
}

// The allocator of glibc: blocks at multiples of 16, the header of the next one in the eight bytes
// before it.
TEST(DataObjects, ABlockHasTheHeaderBehindItUnlessAnotherBeginsThere) {
  constexpr uint32_t kHere[] = {5};
  constexpr uint32_t kThere[] = {6};
  DataObjects objects;
  objects.map_for_allocator({0x1000, 0x2000});
  const ObjectNumber allocators = objects.shadow().find(0x1000);
  const ObjectNumber first = objects.allocate(0x1010, 32, kHere);
  EXPECT_EQ(objects.shadow().find(0x1038), first);
  EXPECT_EQ(objects.shadow().find(0x1040), allocators);
  const ObjectNumber second = objects.allocate(0x1120, 32, kThere);
  EXPECT_EQ(objects.allocate(0x1100, 32, kHere), first);
  EXPECT_EQ(objects.shadow().find(0x1120), second);
}

TEST(DataObjects, WhatIsCalledInManyWaysIsToldApartByFewerCalls) {
  DataObjects objects;
  std::set<ObjectNumber> found;
  for (uint32_t i = 0; i < 10'000; ++i) {
    const uint32_t path[] = {5, i % 2, 7, 8, i};
    found.insert(objects.allocate(0x1000 + 64 * i, 32, path));
  }
  // 64 by all their calls, and by four of them only two
  EXPECT_EQ(found.size(), 64u + 2u);
}

TEST(DataObjects, WhileAnAllocatorWorksItsMemoryIsForItsCaller) {
  constexpr uint32_t kHere[] = {5, 1, 2};
  constexpr uint32_t kFromElsewhere[] = {5, 1, 9};
  constexpr uint32_t kThere[] = {6};
  DataObjects objects;
  const ObjectNumber here = objects.allocator_for(kHere);
  EXPECT_EQ(objects.object(here).kind, Kind::allocator);
  EXPECT_EQ(objects.allocator_for(kFromElsewhere), here);
  EXPECT_NE(objects.allocator_for(kThere), here);
}

TEST(DataObjects, AStackIsWhatWasMappedForIt) {
  constexpr uint32_t kPath[] = {5};
  DataObjects objects;
  objects.map({0x10000, 0x20000}, "", kPath);
  EXPECT_EQ(objects.note_stack(0x1fff0, {}).begin, 0x10000U);
  EXPECT_EQ(objects.shadow().find(0x10000), DataObjects::kStack);
  EXPECT_EQ(objects.object(DataObjects::kStack).size_bytes, 0x10000U);
  EXPECT_EQ(objects.note_stack(0x90010, {0x90000, 0x91000}).end, 0x91000U);
  EXPECT_EQ(objects.shadow().find(0x90ff0), DataObjects::kStack);
  const Span nowhere = objects.note_stack(0xa0000, {0x90000, 0x91000});
  EXPECT_EQ(nowhere.begin, nowhere.end);
}

TEST(DataObjects, AFrameIsOfTheFunctionThatHasTheCode) {
  ElfObjects elf = two_variables();
  elf.functions = {0x1100, 0x1200};
  DataObjects objects;
  objects.add_image(kPlace, elf);
  const ObjectNumber first = objects.find_frame(kBias + 0x1100).rest;
  EXPECT_EQ(objects.object(first).kind, Kind::frame);
  EXPECT_EQ(objects.object(first).mapping, 3U);
  EXPECT_EQ(objects.object(first).place, 0x1100U);  // of the file
  EXPECT_EQ(objects.find_frame(kBias + 0x11ff).rest, first);
  EXPECT_NE(objects.find_frame(kBias + 0x1200).rest, first);
  EXPECT_EQ(objects.find_frame(kBias + 0x10ff).rest, DataObjects::kStack);  // of no function
  EXPECT_EQ(objects.find_frame(0x1100).rest, DataObjects::kStack);          // in no file
}

TEST(DataObjects, VariablesOfAFrameAreObjectsOfTheirOwn) {
  ElfObjects elf = two_variables();
  elf.functions = {0x1100};
  DataObjects objects;
  objects.set_frame_reader([](const std::string& path, uint64_t function) {
    EXPECT_EQ(path, "/bin/a.out");
    EXPECT_EQ(function, 0x1100U);
    return std::vector<FrameVariable>{{"words", "a.c:7", -64, 32}, {"line", "a.c:8", -24, 8}};
  });
  objects.add_image(kPlace, elf);
  const FrameLayout& frame = objects.find_frame(kBias + 0x1110);
  const auto name_at = [&](int64_t offset) { return objects.object(frame.find(offset)).name; };
  EXPECT_EQ(name_at(-65), "");
  EXPECT_EQ(name_at(-64), "words\ta.c:7");
  EXPECT_EQ(name_at(-33), "words\ta.c:7");
  EXPECT_EQ(name_at(-32), "");
  EXPECT_EQ(name_at(-17), "line\ta.c:8");
  EXPECT_EQ(name_at(-16), "");
  EXPECT_EQ(objects.object(frame.find(-20)).kind, Kind::frame);
  EXPECT_EQ(objects.object(frame.find(-20)).place, 0x1100U);
  EXPECT_EQ(objects.object(frame.find(-20)).size_bytes, 8U);
}

TEST(DataObjects, RangesOfThreadsAreOthersForOtherThreads) {
  DataObjects objects;
  constexpr uint32_t kHere[] = {5};
  const ObjectNumber block = objects.allocate(0x1000, 0x100, kHere);
  ASSERT_TRUE(objects.mark_for_thread("mine", {0x1000, 0x1080}, 1));
  ASSERT_TRUE(objects.mark_for_thread("mine", {0x1040, 0x1100}, 2));
  EXPECT_EQ(objects.shadow().find(0x1000), DataObjects::kThreadRange);
  EXPECT_EQ(objects.beneath().find(0x1050), block);
  EXPECT_EQ(objects.beneath().find(0x10ff), block);
  const std::vector<DataObjects::ThreadRange>& ranges = objects.thread_ranges();
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].object, ranges[1].object);
  EXPECT_EQ(objects.object(ranges[0].object).total_bytes, 0x80U + 0xc0U);
  EXPECT_EQ(objects.find_begin(ranges[0].object, 0x10f0), 0x1040U);
  const uint32_t version = objects.thread_ranges_version();
  ASSERT_TRUE(objects.mark_for_thread("mine", {0x1000, 0x1080}, 1));  // no news
  EXPECT_EQ(objects.thread_ranges_version(), version);
  objects.free(0x1000);
  EXPECT_NE(objects.thread_ranges_version(), version);
  EXPECT_TRUE(objects.thread_ranges().empty());
  EXPECT_EQ(objects.shadow().find(0x1010), block);
  EXPECT_EQ(objects.shadow().find(0x10f0), block);
}

TEST(DataObjects, BlocksOfARangesCodeAreTheRange) {
  Range range = *parse_range("rows=quake.c:31");
  range.program = "/bin/a.out";
  range.code = {{0x1010, 0x1020}};
  DataObjects objects({range});
  constexpr uint32_t kHere[] = {5};
  EXPECT_FALSE(objects.has_ranges_of_calls());
  objects.add_image(kPlace, two_variables());
  const ObjectNumber rows = objects.find_range_of_call(kBias + 0x1010);
  EXPECT_EQ(objects.find_range_of_call(kBias + 0x1020), kNothing);
  EXPECT_TRUE(objects.found_ranges().empty());  // nothing was allocated yet
  EXPECT_EQ(objects.allocate(0x90000, 24, kHere, rows), rows);
  EXPECT_EQ(objects.allocate(0x90020, 48, kHere, rows), rows);
  EXPECT_EQ(objects.found_ranges(), std::vector<ObjectNumber>{rows});
  EXPECT_EQ(objects.object(rows).name, "rows");
  EXPECT_EQ(objects.object(rows).blocks, 2U);
  EXPECT_EQ(objects.object(rows).total_bytes, 72U);
  EXPECT_EQ(objects.find_begin(rows, 0x90028), 0x90020U);
}

/// gfortran calls the arrays a and b of a main program a.1 and b.0.
TEST(DataObjects, RangesAreFoundByWhatTheSourceCallsAVariable) {
  ElfObjects elf = two_variables();
  elf.variables = {{"a.1", 0x4010, 0x10},
                   {"buf.0", 0x4020, 8},
                   {"buf.1", 0x4028, 8},
                   {"c", 0x4030, 8},
                   {"c.2", 0x4038, 8}};
  DataObjects objects({*parse_range("a"), *parse_range("buf"), *parse_range("mine=c")});
  const auto name_at = [&](uint64_t address) {
    return objects.object(objects.shadow().find(kBias + address)).name;
  };
  objects.add_image(kPlace, elf);
  EXPECT_EQ(name_at(0x4010), "a");
  EXPECT_EQ(name_at(0x4020), "buf.0");  // nobody can tell which one is meant
  EXPECT_EQ(name_at(0x4028), "buf.1");
  EXPECT_EQ(name_at(0x4030), "mine");
  EXPECT_EQ(name_at(0x4038), "c.2");
  EXPECT_EQ(objects.found_ranges().size(), 2U);
  ElfObjects library = two_variables();
  library.variables = {{"a.7", 0x4010, 0x10}};
  objects.add_image({"/lib/other.so", 4, 0x50000, 0x51000, 0x1000}, library);
  EXPECT_EQ(objects.found_ranges().size(), 2U);  // the first file that has one has it
}

TEST(DataObjects, RangesLieOverAllElse) {
  DataObjects objects({*parse_range("half=table"), *parse_range("buf=0x1008+16")});
  const ObjectNumber buf = objects.shadow().find(0x1008);
  EXPECT_EQ(objects.object(buf).name, "buf");
  constexpr uint32_t kHere[] = {5};
  const ObjectNumber block = objects.allocate(0x1000, 64, kHere);
  EXPECT_EQ(objects.shadow().find(0x1007), block);
  EXPECT_EQ(objects.shadow().find(0x1008), buf);
  EXPECT_EQ(objects.shadow().find(0x1018), block);
  objects.add_image(kPlace, two_variables());
  const Object& half = objects.object(objects.shadow().find(kBias + 0x4018));
  EXPECT_EQ(half.kind, Kind::range);
  EXPECT_EQ(half.size_bytes, 0x40U);
  EXPECT_EQ(objects.object(half.parent).name, "table");
  EXPECT_EQ(objects.found_ranges().size(), 2U);
}

TEST(DataObjects, MarksOfOneNameAreOneObject) {
  constexpr uint32_t kHere[] = {5};
  DataObjects objects;
  objects.map_for_allocator({0x5000, 0x7000});
  const ObjectNumber block = objects.allocate(0x5010, 0x100, kHere);
  objects.allocate(0x6010, 0x100, kHere);
  EXPECT_TRUE(objects.mark("rows", {0x5020, 0x5040}));
  EXPECT_TRUE(objects.mark("rows", {0x6020, 0x6060}));
  EXPECT_TRUE(objects.mark("rows", {0x5020, 0x5040}));  // no news
  const ObjectNumber rows = objects.shadow().find(0x5030);
  EXPECT_EQ(objects.object(rows).kind, Kind::range);
  EXPECT_EQ(objects.object(rows).name, "rows");
  EXPECT_EQ(objects.object(rows).parent, block);
  EXPECT_EQ(objects.object(rows).blocks, 2U);
  EXPECT_EQ(objects.object(rows).total_bytes, 0x60U);
  EXPECT_EQ(objects.shadow().find(0x6030), rows);
  EXPECT_EQ(objects.shadow().find(0x5050), block);
  EXPECT_EQ(objects.find_begin(rows, 0x6030), 0x6020U);
  EXPECT_EQ(objects.found_ranges().size(), 1U);
}

TEST(DataObjects, AMarkEndsWithTheBlockThatItIsIn) {
  constexpr uint32_t kHere[] = {5};
  constexpr uint32_t kThere[] = {6};
  DataObjects objects;
  objects.map_for_allocator({0x5000, 0x7000});
  objects.allocate(0x5010, 0x100, kHere);
  objects.mark("rows", {0x5020, 0x5040});
  const ObjectNumber rows = objects.shadow().find(0x5030);
  objects.free(0x5010);
  EXPECT_EQ(objects.shadow().find(0x5030), rows);  // until it is another's
  const ObjectNumber other = objects.allocate(0x5010, 0x100, kThere);
  EXPECT_EQ(objects.shadow().find(0x5030), other);
  for (size_t i = 0; i <= DataObjects::kMostMarks; ++i) {
    EXPECT_EQ(objects.mark("many", {0x10000 + 16 * i, 0x10008 + 16 * i}),
              i < DataObjects::kMostMarks);
  }
}

}  // namespace
}  // namespace culprit::objects
