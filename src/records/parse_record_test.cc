// Layouts from perf_event_open(2), section "MMAP layout"; the bytes are put together by hand.

#include "records/parse_record.h"

#include <gtest/gtest.h>

#include "records/event_attr.h"
#include "records/test_bytes.h"

namespace culprit {
namespace {

using testing::Bytes;
using testing::kLittle;

constexpr auto kBig = std::endian::big;

RecordLayout layout_of(uint64_t sample_type, std::endian order = kLittle) {
  RecordLayout layout;
  layout.sample_type = sample_type;
  layout.sample_id_all = true;
  layout.order = order;
  return layout;
}

template <class Body>
Body body_of(const Result<Record>& record) {
  EXPECT_TRUE(record.has_value()) << (record ? "" : record.error().message);
  if (!record || !std::holds_alternative<Body>(record->body)) {
    ADD_FAILURE() << "another kind of record";
    return {};
  }
  return std::get<Body>(record->body);
}

class BothOrders : public ::testing::TestWithParam<std::endian> {};
INSTANTIATE_TEST_SUITE_P(Endian, BothOrders, ::testing::Values(kLittle, kBig));

TEST_P(BothOrders, ReadCommWithTrailer) {
  Bytes body(GetParam());
  body.u32(12).u32(34).padded("worker");
  body.u32(12).u32(34).u64(1'000'000'007);  // sample_id: pid, tid, time
  const Bytes bytes = Bytes::record(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, body);
  const auto record = parse_record(
      bytes.span(), layout_of(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IP, GetParam()));
  const auto comm = body_of<CommRecord>(record);
  EXPECT_EQ(comm.pid, 12u);
  EXPECT_EQ(comm.tid, 34u);
  EXPECT_TRUE(comm.exec);
  EXPECT_EQ(comm.name, "worker");
  EXPECT_EQ(record->origin.time_ns, 1'000'000'007u);
  EXPECT_EQ(record->origin.tid, 34u);
}

TEST_P(BothOrders, ReadMmap2WithInode) {
  Bytes body(GetParam());
  body.u32(7).u32(8).u64(0x400000).u64(0x2000).u64(0x1000);
  body.u32(253).u32(1).u64(777).u64(5);  // maj, min, ino, generation
  body.u32(5).u32(2).padded("/bin/a");   // PROT_READ | PROT_EXEC, MAP_PRIVATE
  const Bytes bytes = Bytes::record(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, body);
  const auto map = body_of<MmapRecord>(parse_record(bytes.span(), layout_of(0, GetParam())));
  EXPECT_EQ(map.start, RunAddress(0x400000));
  EXPECT_EQ(map.length, 0x2000u);
  EXPECT_EQ(map.file_offset, 0x1000u);
  EXPECT_EQ(map.device_major, 253u);
  EXPECT_EQ(map.device_minor, 1u);
  EXPECT_EQ(map.inode, 777u);
  EXPECT_TRUE(map.executable);
  EXPECT_EQ(map.mode, Mode::user);
  EXPECT_EQ(map.path, "/bin/a");
  EXPECT_EQ(map.build_id, "");
}

TEST_P(BothOrders, ReadSampleWithEveryField) {
  RecordLayout layout = layout_of((1u << 25) - 1, GetParam());  // up to WEIGHT_STRUCT
  layout.sample_type &= ~uint64_t{PERF_SAMPLE_WEIGHT_STRUCT};   // shares its place with WEIGHT
  layout.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
                       PERF_FORMAT_ID | PERF_FORMAT_GROUP;
  layout.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX;
  layout.user_registers = 0b1010;
  layout.interrupted_registers = 0b1;
  Bytes body(GetParam());
  body.u64(91);                                               // IDENTIFIER
  body.u64(0x401234).u32(10).u32(11).u64(99);                 // IP, TID, TIME
  body.u64(0xdada).u64(91).u64(92).u32(3).u32(0);             // ADDR, ID, STREAM_ID, CPU
  body.u64(1'001'003);                                        // PERIOD
  body.u64(2).u64(50).u64(40).u64(5).u64(91).u64(6).u64(93);  // READ: group of 2
  body.u64(3).u64(uint64_t(PERF_CONTEXT_USER)).u64(0x401234).u64(0x401300);  // CALLCHAIN
  body.u32(4).raw("RAW!");                                                   // RAW
  body.u64(1).u64(0).u64(0x10).u64(0x20).u64(1);  // BRANCH_STACK with hw_idx
  body.u64(2).u64(111).u64(333);                  // REGS_USER
  body.u64(8).raw("stackxxx").u64(5);             // STACK_USER: 8 bytes, 5 filled
  body.u64(17).u64(18).u64(19);                   // WEIGHT, DATA_SRC, TRANSACTION
  body.u64(2).u64(444);                           // REGS_INTR
  body.u64(20).u64(21).u64(22).u64(23);           // PHYS_ADDR, CGROUP, page sizes
  body.u64(3).raw("aux");                         // AUX
  // Bits 20 to 23 in order are AUX, CGROUP, DATA_PAGE_SIZE, CODE_PAGE_SIZE; AUX comes last.
  const Bytes bytes = Bytes::record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, body);
  const auto record = parse_record(bytes.span(), layout);
  const auto sample = body_of<SampleRecord>(record);
  EXPECT_EQ(record->origin.id, 91u);
  EXPECT_EQ(record->origin.stream_id, 92u);
  EXPECT_EQ(record->origin.pid, 10u);
  EXPECT_EQ(record->origin.tid, 11u);
  EXPECT_EQ(record->origin.time_ns, 99u);
  EXPECT_EQ(record->origin.cpu, 3u);
  EXPECT_EQ(sample.ip, RunAddress(0x401234));
  EXPECT_EQ(sample.data_address, 0xdadau);
  EXPECT_EQ(sample.period, 1'001'003u);
  EXPECT_EQ(sample.mode, Mode::kernel);
  ASSERT_EQ(sample.read.values.size(), 2u);
  EXPECT_EQ(sample.read.time_enabled_ns, 50u);
  EXPECT_EQ(sample.read.time_running_ns, 40u);
  EXPECT_EQ(sample.read.values[1].value, 6u);
  EXPECT_EQ(sample.read.values[1].id, 93u);
  EXPECT_EQ(sample.callchain.size(), 3u);
  EXPECT_EQ(sample.raw.size(), 4u);
  ASSERT_EQ(sample.branches.size(), 1u);
  EXPECT_EQ(sample.branches[0].to, RunAddress(0x20));
  EXPECT_EQ(sample.user_registers.values, (std::vector<uint64_t>{111, 333}));
  EXPECT_EQ(sample.user_stack.size(), 5u);
  EXPECT_EQ(sample.weight, 17u);
  EXPECT_EQ(sample.data_source, 18u);
  EXPECT_EQ(sample.transaction, 19u);
  EXPECT_EQ(sample.interrupted_registers.values, (std::vector<uint64_t>{444}));
  EXPECT_EQ(sample.physical_address, 20u);
  EXPECT_EQ(sample.cgroup, 21u);
  EXPECT_EQ(sample.data_page_size, 22u);
  EXPECT_EQ(sample.code_page_size, 23u);
  EXPECT_EQ(sample.aux.size(), 3u);

  // Cut anywhere, it is an error: every field is needed.
  for (size_t size = 8; size < bytes.size(); ++size) {
    std::vector<std::byte> cut(bytes.span().begin(),
                               bytes.span().begin() + static_cast<ptrdiff_t>(size));
    const size_t low_byte = GetParam() == kLittle ? 6 : 7;
    cut[low_byte] = static_cast<std::byte>(size & 0xff);
    cut[13 - low_byte] = static_cast<std::byte>(size >> 8);
    EXPECT_FALSE(parse_record(cut, layout).has_value()) << size;
  }
}

TEST(ParseRecord, TakesBuildIdInsteadOfInode) {
  Bytes body;
  body.u32(7).u32(8).u64(0x400000).u64(0x2000).u64(0);
  body.u8(4).u8(0).u16(0).raw("\xde\xad\xbe\xef").zeros(16);
  body.u32(1).u32(2).padded("/bin/a");
  const Bytes bytes = Bytes::record(PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, body);
  const auto map = body_of<MmapRecord>(parse_record(bytes.span(), layout_of(0)));
  EXPECT_EQ(map.build_id, "deadbeef");
  EXPECT_EQ(map.inode, 0u);
  EXPECT_FALSE(map.executable);  // PROT_READ only
}

TEST(ParseRecord, RefusesBuildIdLongerThanItsField) {
  Bytes body;
  body.u32(7).u32(8).u64(0x400000).u64(0x2000).u64(0).u8(21).zeros(23).u32(1).u32(2).padded("a");
  const Bytes bytes = Bytes::record(PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, body);
  EXPECT_FALSE(parse_record(bytes.span(), layout_of(0)).has_value());
}

TEST(ParseRecord, ReadsForkExitLostThrottleAndKsymbol) {
  const RecordLayout layout = layout_of(0);
  const Bytes task = Bytes().u32(20).u32(10).u32(21).u32(11).u64(5);
  const auto fork =
      body_of<ForkRecord>(parse_record(Bytes::record(PERF_RECORD_FORK, 0, task).span(), layout));
  EXPECT_EQ(fork.pid, 20u);
  EXPECT_EQ(fork.parent_pid, 10u);
  EXPECT_EQ(fork.tid, 21u);
  EXPECT_EQ(fork.parent_tid, 11u);
  EXPECT_EQ(fork.time_ns, 5u);
  const auto exit =
      body_of<ExitRecord>(parse_record(Bytes::record(PERF_RECORD_EXIT, 0, task).span(), layout));
  EXPECT_EQ(exit.tid, 21u);
  const auto lost = body_of<LostRecord>(
      parse_record(Bytes::record(PERF_RECORD_LOST, 0, Bytes().u64(3).u64(44)).span(), layout));
  EXPECT_EQ(lost.lost, 44u);
  const Bytes throttle_body = Bytes().u64(1).u64(2).u64(3);
  const auto throttle = body_of<ThrottleRecord>(
      parse_record(Bytes::record(PERF_RECORD_THROTTLE, 0, throttle_body).span(), layout));
  EXPECT_TRUE(throttle.throttled);
  const auto unthrottle = body_of<ThrottleRecord>(
      parse_record(Bytes::record(PERF_RECORD_UNTHROTTLE, 0, throttle_body).span(), layout));
  EXPECT_FALSE(unthrottle.throttled);
  const Bytes symbol_body =
      Bytes().u64(0xffffffffc0000000).u32(99).u16(1).u16(1).padded("bpf_prog_x");
  const auto symbol = body_of<KsymbolRecord>(
      parse_record(Bytes::record(PERF_RECORD_KSYMBOL, 0, symbol_body).span(), layout));
  EXPECT_EQ(symbol.length, 99u);
  EXPECT_TRUE(symbol.unregistered);
  EXPECT_EQ(symbol.name, "bpf_prog_x");
}

TEST(ParseRecord, RefusesCountsPastTheEnd) {
  const RecordLayout chain = layout_of(PERF_SAMPLE_CALLCHAIN);
  const Bytes frames = Bytes().u64(UINT64_MAX / 8 + 2).u64(1).u64(2);
  EXPECT_FALSE(
      parse_record(Bytes::record(PERF_RECORD_SAMPLE, 0, frames).span(), chain).has_value());
  const Bytes spaces = Bytes().u32(1).u32(1).u64(uint64_t{1} << 60).u64(1).u64(2);
  EXPECT_FALSE(parse_record(Bytes::record(PERF_RECORD_NAMESPACES, 0, spaces).span(), layout_of(0))
                   .has_value());
}

TEST(ParseRecord, RefusesSizesThatLie) {
  const RecordLayout layout = layout_of(PERF_SAMPLE_TIME);
  EXPECT_FALSE(parse_record(Bytes().u32(3).u16(0).u16(7).span(), layout).has_value());   // < 8
  EXPECT_FALSE(parse_record(Bytes().u32(3).u16(0).u16(99).span(), layout).has_value());  // > all
  EXPECT_FALSE(
      parse_record(Bytes().u32(3).u16(0).u16(8).span(), layout).has_value());  // no trailer
  EXPECT_FALSE(parse_record({}, layout).has_value());
}

TEST(ParseRecord, KeepsKindsItDoesNotKnow) {
  const Bytes bytes = Bytes::record(4711, 0, Bytes().u64(1).u64(77));
  const auto record = parse_record(bytes.span(), layout_of(PERF_SAMPLE_TIME));
  EXPECT_EQ(body_of<UnknownRecord>(record).type, 4711u);
  EXPECT_EQ(record->origin.time_ns, 77u);
}

TEST(FindRecordTime, LooksWhereSamplesAndOthersHaveIt) {
  const RecordLayout layout =
      layout_of(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD);
  const Bytes sample =
      Bytes::record(PERF_RECORD_SAMPLE, 0, Bytes().u64(1).u32(2).u32(3).u64(44).u64(5));
  EXPECT_EQ(find_record_time(sample.span(), layout), 44u);
  const Bytes lost =
      Bytes::record(PERF_RECORD_LOST, 0, Bytes().u64(1).u64(2).u32(2).u32(3).u64(55));
  EXPECT_EQ(find_record_time(lost.span(), layout), 55u);
  EXPECT_EQ(find_record_time(lost.span(), layout_of(PERF_SAMPLE_IP)), std::nullopt);
}

TEST(ParseEventAttr, ReadsShortAndLongAttrsInBothOrders) {
  for (const std::endian order : {kLittle, kBig}) {
    // Bits 4 (exclude_user), 15 and 16 (precise_ip 2 is the upper one where bits count from the
    // low end), 18 (sample_id_all) of the flags.
    const uint64_t flags = order == kLittle
                               ? uint64_t{1} << 4 | uint64_t{2} << 15 | 1u << 18
                               : uint64_t{1} << 59 | uint64_t{2} << 47 | uint64_t{1} << 45;
    Bytes attr(order);
    attr.u32(1).u32(0).u64(7).u64(1'000).u64(0x107).u64(0x4);  // type .. read_format
    attr.u64(flags).zeros(16);
    const auto event = parse_event_attr(attr.span(), order);
    ASSERT_TRUE(event.has_value());
    EXPECT_EQ(event->type, 1u);
    EXPECT_EQ(event->config, 7u);
    EXPECT_EQ(event->sample_period, 1'000u);
    EXPECT_EQ(event->precise_level, 2u);
    EXPECT_TRUE(event->exclude_user);
    EXPECT_FALSE(event->exclude_kernel);
    EXPECT_EQ(event->layout.sample_type, 0x107u);
    EXPECT_EQ(event->layout.read_format, 0x4u);
    EXPECT_TRUE(event->layout.sample_id_all);
    EXPECT_EQ(event->layout.user_registers, 0u);
    EXPECT_EQ(parse_attr_size(attr.span(), order).value_or(0), 64u);
    attr.zeros(8).u64(0).u64(0xff).zeros(200);  // config2, branch_sample_type, sample_regs_user ..
    const auto longer = parse_event_attr(attr.span(), order);
    ASSERT_TRUE(longer.has_value());
    EXPECT_EQ(longer->layout.user_registers, 0xffu);
    EXPECT_FALSE(parse_event_attr(attr.span().first(63), order).has_value());
  }
}

TEST(ParseRecord, FindsTheFlagsOfBranchesInBothOrders) {
  for (const std::endian order : {kLittle, kBig}) {
    RecordLayout layout = layout_of(PERF_SAMPLE_BRANCH_STACK);
    layout.order = order;
    // predicted (bit 1), 9 cycles (16 bits from bit 4): from the other end on big-endian machines.
    const uint64_t flags = order == kLittle ? 2 | 9u << 4 : uint64_t{1} << 62 | uint64_t{9} << 44;
    Bytes body(order);
    body.u64(1).u64(0x10).u64(0x20).u64(flags);
    const Bytes bytes = Bytes::record(PERF_RECORD_SAMPLE, 0, body);
    const auto record = parse_record(bytes.span(), layout);
    ASSERT_TRUE(record.has_value());
    const BranchEntry branch = body_of<SampleRecord>(record).branches.at(0);
    EXPECT_EQ(branch.from, RunAddress(0x10));
    EXPECT_FALSE(branch.mispredicted);
    EXPECT_TRUE(branch.predicted);
    EXPECT_EQ(branch.cycles, 9u);
  }
}

}  // namespace
}  // namespace culprit
