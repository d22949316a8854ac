// Layouts from perf_event_open(2), section "MMAP layout"; the bytes are put together by hand.

#include "records/plain_sample.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include "records/test_bytes.h"

namespace culprit {
namespace {

using testing::Bytes;

constexpr uint64_t kTaskAndTime = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;

RecordLayout plain_layout_of(uint64_t sample_type, std::endian order = std::endian::native) {
  RecordLayout layout;
  layout.sample_type = sample_type;
  layout.order = order;
  return layout;
}

TEST(PlainSample, ReadsWhatPerfRecordsByDefault) {
  Bytes body;
  body.u64(0x401000).u32(12).u32(34).u64(1'000'000'007).u64(5).u32(1).u32(0).u64(4000);
  const Bytes bytes = Bytes::record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, body);
  const auto parser = PlainSampleParser::make(
      plain_layout_of(kTaskAndTime | PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD));
  ASSERT_TRUE(parser);
  ASSERT_TRUE(parser->fits(bytes.span()));
  EXPECT_FALSE(parser->fits(bytes.span().first(bytes.size() - 1)));
  EXPECT_EQ(parser->time_ns(bytes.span()), 1'000'000'007u);
  const PlainSample sample = parser->parse(bytes.span(), Mode::user);
  EXPECT_EQ(sample.ip, RunAddress(0x401000));
  EXPECT_EQ(sample.pid, 12u);
  EXPECT_EQ(sample.tid, 34u);
  EXPECT_EQ(sample.time_ns, 1'000'000'007u);
  EXPECT_EQ(sample.period, 4000u);
  EXPECT_EQ(sample.mode, Mode::user);
}

TEST(PlainSample, FindsFieldsBehindTheIdentifier) {
  Bytes body;
  body.u64(99).u64(0x401000).u32(12).u32(34).u64(7);
  const Bytes bytes = Bytes::record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, body);
  const auto parser =
      PlainSampleParser::make(plain_layout_of(kTaskAndTime | PERF_SAMPLE_IDENTIFIER));
  ASSERT_TRUE(parser);
  const PlainSample sample = parser->parse(bytes.span(), Mode::kernel);
  EXPECT_EQ(sample.ip, RunAddress(0x401000));
  EXPECT_EQ(sample.tid, 34u);
  EXPECT_EQ(sample.time_ns, 7u);
  EXPECT_EQ(sample.period, 0u);
}

TEST(PlainSample, LeavesOtherLayoutsAlone) {
  constexpr uint64_t kOthers[] = {
      PERF_SAMPLE_ADDR,         PERF_SAMPLE_READ,       PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_RAW,
      PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_STACK_USER, PERF_SAMPLE_WEIGHT,    uint64_t{1} << 40};
  for (const uint64_t other : kOthers) {
    EXPECT_FALSE(PlainSampleParser::make(plain_layout_of(kTaskAndTime | other))) << other;
  }
  EXPECT_FALSE(PlainSampleParser::make(plain_layout_of(PERF_SAMPLE_IP | PERF_SAMPLE_TID)));
  EXPECT_FALSE(PlainSampleParser::make(plain_layout_of(kTaskAndTime, std::endian::big)));
}

}  // namespace
}  // namespace culprit
