// Names: what `perf evlist` of perf 6.1 says of a file with these attributes and no names
// in it. Places of ids: perf_event_open(2), "sample_id" and PERF_RECORD_SAMPLE.

#include "perfdata/attributes.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include "perfdata/test_file.h"

namespace culprit {
namespace {

using testing::Bytes;
using testing::kLittle;
using testing::TestEvent;

constexpr uint64_t kUser = 1 << 4;  // exclude_*, as in perf_event_attr
constexpr uint64_t kKernel = 1 << 5;
constexpr uint64_t kHypervisor = 1 << 6;
constexpr uint64_t kHost = 1 << 19;
constexpr uint64_t kGuest = 1 << 20;
constexpr uint64_t kPrecise = 1 << 15;  // times the level

std::string name_of(uint32_t type, uint64_t config, uint64_t excluded = kGuest,
                    uint64_t config1 = 0) {
  TestEvent event{type, config};
  event.flags = excluded;
  event.config1 = config1;
  const Bytes attr = event.attr(kLittle);
  const Result<EventAttr> parsed = parse_event_attr(attr.span(), kLittle);
  return parsed ? describe_event(*parsed) : parsed.error().message;
}

TEST(EventName, IsPerfsForEveryKindOfEvent) {
  EXPECT_EQ(name_of(0, 0), "cycles");
  EXPECT_EQ(name_of(0, 1), "instructions");
  EXPECT_EQ(name_of(0, 6), "bus-cycles");
  EXPECT_EQ(name_of(0, 9), "ref-cycles");
  EXPECT_EQ(name_of(1, 0), "cpu-clock");
  EXPECT_EQ(name_of(1, 1), "task-clock");
  EXPECT_EQ(name_of(1, 2), "page-faults");
  EXPECT_EQ(name_of(1, 5), "minor-faults");
  EXPECT_EQ(name_of(3, 0x10000), "L1-dcache-load-misses");
  EXPECT_EQ(name_of(3, 0x1), "L1-icache-loads");
  EXPECT_EQ(name_of(3, 0x10103), "dTLB-store-misses");
  EXPECT_EQ(name_of(3, 0x200), "L1-dcache-prefetches");
  EXPECT_EQ(name_of(3, 0x10005), "branch-load-misses");
  EXPECT_EQ(name_of(3, 0x6), "node-loads");
  EXPECT_EQ(name_of(4, 0x1cd), "raw 0x1cd");
}

TEST(EventName, SaysWhoIsCountedAsPerfDoes) {
  EXPECT_EQ(name_of(0, 0, kKernel | kHypervisor), "cycles:u");
  EXPECT_EQ(name_of(0, 0, kUser | kHypervisor), "cycles:k");
  EXPECT_EQ(name_of(0, 0, kUser | kKernel), "cycles:h");
  EXPECT_EQ(name_of(0, 0, kKernel | kHypervisor | kGuest), "cycles:uH");
  EXPECT_EQ(name_of(0, 0, 2 * kPrecise), "cycles:pp");
  EXPECT_EQ(name_of(0, 0, 2 * kPrecise | kGuest), "cycles:ppH");
  EXPECT_EQ(name_of(0, 0, 3 * kPrecise | kKernel | kHypervisor), "cycles:uppp");
  EXPECT_EQ(name_of(0, 0, 0), "cycles:HG");
  EXPECT_EQ(name_of(0, 0, kHost), "cycles:G");
}

/// perf says "unknown-hardware" and the like, which tells two of them apart by nothing.
TEST(EventName, OfAnUnknownEventIsItsEncoding) {
  EXPECT_EQ(name_of(0, 10), "hardware 0xa");
  EXPECT_EQ(name_of(1, 50), "software 0x32");
  EXPECT_EQ(name_of(3, 0x304), "hw-cache 0x304");
  EXPECT_EQ(name_of(3, 0x20000), "hw-cache 0x20000");
  EXPECT_EQ(name_of(11, 0x22), "pmu 11 0x22");
  EXPECT_EQ(name_of(2, 77), "tracepoint 77");
}

TEST(EventEncoding, HasWhatPerfEventOpenNeeds) {
  TestEvent event{4, 0x1cd};
  event.config1 = 0x40;
  event.flags = 2 * kPrecise | kKernel | kHypervisor;
  const Bytes attr = event.attr(kLittle);
  EXPECT_EQ(format_encoding(*parse_event_attr(attr.span(), kLittle)),
            "type=4,config=0x1cd,config1=0x40:upp");
}

/// Two events with these sample types; the first has the ids 71 and 72, the second 73.
Attributes two_events(uint64_t sample_type, uint64_t flags = TestEvent::kSampleIdAll) {
  Attributes attributes;
  TestEvent event;
  event.sample_type = sample_type;
  event.flags = flags;
  const Bytes attr = event.attr(kLittle);
  EXPECT_TRUE(attributes.add(attr.span(), {71, 72}, kLittle));
  EXPECT_TRUE(attributes.add(attr.span(), {73}, kLittle));
  return attributes;
}

std::optional<size_t> event_of(const Attributes& attributes, uint32_t type, const Bytes& body) {
  const Bytes record = Bytes::record(type, 0, body);
  return attributes.find_event(record.span(), type);
}

TEST(FindEvent, LooksForTheIdOfASampleAfterItsAddress) {
  const Attributes two = two_events(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                    PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_CPU);
  const auto sample = [](uint64_t id) {
    return Bytes().u64(0x400000).u32(1).u32(2).u64(99).u64(0xdada).u64(id).u64(0);
  };
  EXPECT_EQ(event_of(two, PERF_RECORD_SAMPLE, sample(71)), 0u);
  EXPECT_EQ(event_of(two, PERF_RECORD_SAMPLE, sample(72)), 0u);
  EXPECT_EQ(event_of(two, PERF_RECORD_SAMPLE, sample(73)), 1u);
  EXPECT_EQ(event_of(two, PERF_RECORD_SAMPLE, sample(74)), std::nullopt);
  // Cut off before its id: whoever parses it will find it damaged.
  EXPECT_EQ(event_of(two, PERF_RECORD_SAMPLE, Bytes().u64(73)), 0u);
}

TEST(FindEvent, LooksForTheIdentifierAtTheEdge) {
  const Attributes two =
      two_events(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
  EXPECT_EQ(event_of(two, PERF_RECORD_SAMPLE, Bytes().u64(73).u64(0x71).u64(0)), 1u);
  const Bytes comm = Bytes().u32(1).u32(1).padded("name").u32(1).u32(1).u64(99).u64(73);
  EXPECT_EQ(event_of(two, PERF_RECORD_COMM, comm), 1u);
}

TEST(FindEvent, LooksForTheIdInTheTrailer) {
  const Attributes two =
      two_events(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_CPU);
  const auto comm = [](uint64_t id) {
    return Bytes().u32(1).u32(1).padded("name").u32(1).u32(1).u64(99).u64(id).u32(3).u32(0);
  };
  EXPECT_EQ(event_of(two, PERF_RECORD_COMM, comm(73)), 1u);
  EXPECT_EQ(event_of(two, PERF_RECORD_COMM, comm(72)), 0u);
  EXPECT_EQ(event_of(two, PERF_RECORD_COMM, comm(0)), 0u);  // one that perf made up
}

TEST(FindEvent, TakesTheFirstWhereRecordsHaveNoId) {
  const Attributes two = two_events(PERF_SAMPLE_IP | PERF_SAMPLE_TID);
  EXPECT_EQ(event_of(two, PERF_RECORD_SAMPLE, Bytes().u64(0x400000).u64(1)), 0u);
  EXPECT_EQ(Attributes().find_event(Bytes().span(), PERF_RECORD_SAMPLE), std::nullopt);
}

TEST(Attributes, RefusesMoreEventsAndIdsThanAnyMachineHas) {
  Attributes attributes;
  const Bytes attr = TestEvent{}.attr(kLittle);
  for (int i = 0; i < 4096; ++i) ASSERT_TRUE(attributes.add(attr.span(), {}, kLittle));
  EXPECT_FALSE(attributes.add(attr.span(), {}, kLittle));
  Attributes other;
  const std::vector<uint64_t> million(1 << 20, 7);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(other.add(attr.span(), million, kLittle));
  EXPECT_FALSE(other.add(attr.span(), million, kLittle));
}

}  // namespace
}  // namespace culprit
