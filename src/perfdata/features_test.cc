// Sections as perf.data-file-format.txt (Linux, tools/perf/Documentation) describes them.

#include "perfdata/features.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include "perfdata/test_file.h"

namespace culprit {
namespace {

using testing::Bytes;
using testing::kLittle;
using testing::TestEvent;
using testing::text_of;

constexpr auto kBig = std::endian::big;

Bytes text(Bytes bytes, std::string_view words) {
  // perf pads texts with NULs to a multiple of 64 bytes.
  const size_t room = (words.size() + 64) / 64 * 64;
  return bytes.u32(static_cast<uint32_t>(room)).raw(words).zeros(room - words.size());
}

class Features : public ::testing::TestWithParam<std::endian> {
 protected:
  Bytes bytes() const { return Bytes(GetParam()); }
  Result<void> parse(Feature feature, const Bytes& section) {
    last_ = text_of(section);
    return parse_feature(feature, section.span(), GetParam(), facts_, attributes_);
  }
  /// An error for every length that cuts the last section off, and no crash. Of an empty one
  /// nothing was cut.
  void expect_damaged_when_cut(Feature feature) {
    const std::string whole = last_;
    for (size_t size = 1; size < whole.size(); ++size) {
      RecordedFacts facts;
      Attributes attributes;
      const Bytes cut = Bytes().raw(whole.substr(0, size));
      EXPECT_FALSE(parse_feature(feature, cut.span(), GetParam(), facts, attributes)) << size;
    }
  }

  RecordedFacts facts_;
  Attributes attributes_;
  std::string last_;
};
INSTANTIATE_TEST_SUITE_P(Endian, Features, ::testing::Values(kLittle, kBig));

TEST_P(Features, TellTheMachine) {
  ASSERT_TRUE(parse(Feature::host_name, text(bytes(), "build7")));
  expect_damaged_when_cut(Feature::host_name);
  ASSERT_TRUE(parse(Feature::os_release, text(bytes(), "6.1.0")));
  ASSERT_TRUE(parse(Feature::perf_version, text(bytes(), "6.1.187")));
  ASSERT_TRUE(parse(Feature::architecture, text(bytes(), "aarch64")));
  ASSERT_TRUE(parse(Feature::cpu_description, text(bytes(), "Fast CPU")));
  ASSERT_TRUE(parse(Feature::cpu_count, bytes().u32(8).u32(6)));  // configured, online
  expect_damaged_when_cut(Feature::cpu_count);
  EXPECT_EQ(facts_.host, "build7");
  EXPECT_EQ(facts_.kernel_release, "6.1.0");
  EXPECT_EQ(facts_.perf_version, "6.1.187");
  EXPECT_EQ(facts_.architecture, "aarch64");
  EXPECT_EQ(facts_.cpu_model, "Fast CPU");
  EXPECT_EQ(facts_.cpus_online, 6u);

  ASSERT_TRUE(parse(Feature::cpu_id, text(bytes(), "GenuineIntel,6,85,7")));
  EXPECT_EQ(facts_.cpu_id, "GenuineIntel-6-55-7");
  ASSERT_TRUE(parse(Feature::cpu_id, text(bytes(), "0x00000000410fd0c0")));
  EXPECT_EQ(facts_.cpu_id, "0x00000000410fd0c0");
  expect_damaged_when_cut(Feature::cpu_id);
}

TEST_P(Features, TellTheCommand) {
  ASSERT_TRUE(
      parse(Feature::command_line, text(text(text(bytes().u32(3), "perf"), "record"), "-g")));
  EXPECT_EQ(facts_.command, "perf record -g");
  expect_damaged_when_cut(Feature::command_line);
}

TEST_P(Features, TellTheTimes) {
  ASSERT_TRUE(parse(Feature::sample_time, bytes().u64(1000).u64(5000)));
  EXPECT_EQ(facts_.sample_time_ns, std::pair(uint64_t{1000}, uint64_t{5000}));
  expect_damaged_when_cut(Feature::sample_time);
  // Version, clock, CLOCK_REALTIME, the samples' clock.
  ASSERT_TRUE(parse(Feature::clock_data, bytes().u32(1).u32(4).u64(1'700'000'000).u64(900)));
  EXPECT_EQ(facts_.clocks_ns, std::pair(uint64_t{900}, uint64_t{1'700'000'000}));
  expect_damaged_when_cut(Feature::clock_data);
}

TEST_P(Features, TellGroupsAndKindsOfCpus) {
  ASSERT_TRUE(parse(Feature::group_descriptions, text(bytes().u32(1), "mine").u32(2).u32(3)));
  EXPECT_EQ(facts_.groups, std::vector<std::string>{"mine (3 events from event 2 on)"});
  expect_damaged_when_cut(Feature::group_descriptions);
  ASSERT_TRUE(parse(Feature::hybrid_topology,
                    text(text(text(text(bytes().u32(2), "cpu_core"), "0-3"), "cpu_atom"), "4-7")));
  EXPECT_EQ(facts_.cpu_kinds, (std::vector<std::string>{"cpu_core: 0-3", "cpu_atom: 4-7"}));
  expect_damaged_when_cut(Feature::hybrid_topology);
}

TEST_P(Features, NameTheEvents) {
  const Bytes attr = TestEvent{}.attr(GetParam());
  for (const uint64_t id : {71U, 72U}) {
    ASSERT_TRUE(attributes_.add(attr.span(), {id}, GetParam()));
  }
  Bytes section = bytes().u32(2).u32(TestEvent::kBytes);
  section = text(section.raw(text_of(attr)).u32(1), "cycles:u").u64(71);
  section = text(section.raw(text_of(attr)).u32(1), "br_inst_exec:taken").u64(72);
  ASSERT_TRUE(parse(Feature::event_descriptions, section));
  EXPECT_EQ(attributes_.events()[0].name, "cycles:u");
  EXPECT_EQ(attributes_.events()[1].name, "br_inst_exec:taken");
  expect_damaged_when_cut(Feature::event_descriptions);
}

/// An entry of the build-id table: pid, 20 bytes of id, its size if misc says so, path.
Bytes build_id_entry(std::endian order, uint16_t misc, const std::string& id, uint8_t size) {
  Bytes body(order);
  body.u32(~0U).raw(id).zeros(20 - id.size()).u8(size).zeros(3).padded("/bin/a");
  return Bytes::record(0, misc, body);
}

TEST_P(Features, GiveBuildIds) {
  constexpr uint16_t kHasSize = 1 << 15;
  const std::string sixteen = "0123456789abcdef";
  Bytes section = bytes();
  section.raw(text_of(build_id_entry(GetParam(), PERF_RECORD_MISC_USER, sixteen + "ghij", 0)));
  section.raw(text_of(build_id_entry(GetParam(), PERF_RECORD_MISC_KERNEL | kHasSize, sixteen, 16)));
  section.raw(text_of(build_id_entry(GetParam(), PERF_RECORD_MISC_GUEST_KERNEL, sixteen, 0)));
  ASSERT_TRUE(parse(Feature::build_id, section));
  ASSERT_EQ(facts_.build_ids.size(), 3u);
  const std::string digits = "30313233343536373839616263646566";
  EXPECT_EQ(facts_.build_ids[0].build_id, digits + "6768696a");
  EXPECT_EQ(facts_.build_ids[0].mode, Mode::user);
  EXPECT_EQ(facts_.build_ids[0].path, "/bin/a");
  EXPECT_EQ(facts_.build_ids[1].build_id, digits);
  EXPECT_EQ(facts_.build_ids[1].mode, Mode::kernel);
  EXPECT_EQ(facts_.build_ids[2].build_id, digits);  // zeros that fill it up are not of the id
  EXPECT_EQ(facts_.build_ids[2].mode, Mode::guest_kernel);
  RecordedFacts facts;
  const Bytes tail = Bytes().raw(text_of(section) + "more");
  EXPECT_FALSE(parse_feature(Feature::build_id, tail.span(), GetParam(), facts, attributes_));
}

TEST_P(Features, OfAnUnknownKindAreLeftOut) {
  EXPECT_TRUE(parse(Feature{200}, bytes().raw("anything")));
}

TEST_P(Features, ThatCountMoreThanTheyHoldAreDamaged) {
  EXPECT_FALSE(parse(Feature::command_line, bytes().u32(~0U)));
  EXPECT_FALSE(parse(Feature::host_name, bytes().u32(~0U).raw("x")));
  EXPECT_FALSE(parse(Feature::group_descriptions, bytes().u32(~0U)));
  EXPECT_FALSE(parse(Feature::event_descriptions, bytes().u32(~0U).u32(0)));
}

// perf leaves a section empty of what it could not find out (CPUDESC of many machines).
TEST_P(Features, ThatAreEmptyAreNotDamaged) {
  for (uint32_t feature = 0; feature < 40; ++feature) {
    EXPECT_TRUE(parse(Feature{feature}, bytes())) << feature;
  }
}

TEST_P(Features, EventUpdateNamesTheEventOfItsId) {
  const Bytes attr = TestEvent{}.attr(GetParam());
  ASSERT_TRUE(attributes_.add(attr.span(), {71}, GetParam()));
  constexpr uint64_t kUnit = 0;
  constexpr uint64_t kName = 2;
  EXPECT_TRUE(parse_event_update(bytes().u64(kUnit).u64(71).padded("Joules").span(), GetParam(),
                                 attributes_));
  EXPECT_EQ(attributes_.events()[0].name, "");
  EXPECT_TRUE(parse_event_update(bytes().u64(kName).u64(71).padded("energy").span(), GetParam(),
                                 attributes_));
  EXPECT_EQ(attributes_.events()[0].name, "energy");
  EXPECT_FALSE(parse_event_update(bytes().u64(kName).span(), GetParam(), attributes_));
}

TEST(TracingData, NamesTracepointsByTheirNumber) {
  Attributes attributes;
  const Bytes attr = TestEvent{PERF_TYPE_TRACEPOINT, 317}.attr(kLittle);
  const Bytes other = TestEvent{PERF_TYPE_SOFTWARE, 317}.attr(kLittle);
  for (const Bytes* one : {&other, &attr, &attr}) {
    ASSERT_TRUE(attributes.add(one->span(), {}, kLittle));
  }
  const Bytes data =
      Bytes().raw(std::string_view("\x17\x08\x44tracing\0name: sched_wakeup\nID: 316\nformat:\n"
                                   "name: sched_switch\nID: 317\nformat:\nname: broken\nID: 31",
                                   87));
  parse_tracing_data(data.span(), kLittle, attributes);
  EXPECT_EQ(attributes.events()[0].name, "");
  EXPECT_EQ(attributes.events()[1].name, "sched_switch");
  EXPECT_EQ(attributes.events()[2].name, "sched_switch");
}

}  // namespace
}  // namespace culprit
