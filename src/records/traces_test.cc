// Tests of the smaller parsers: callchains, /proc texts, perf maps, jitdumps, ELF identities.

#include <array>
#include <cstdio>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include "base/file.h"
#include "base/test_folders.h"
#include "records/callchain.h"
#include "records/elf_identity.h"
#include "records/jitdump.h"
#include "records/perf_map.h"
#include "records/proc_text.h"
#include "records/test_bytes.h"

namespace culprit {
namespace {

using testing::Bytes;

TEST(SplitCallchain, CallersAreInTheCallAndEntriesAreExact) {
  const std::array<uint64_t, 6> chain{static_cast<uint64_t>(PERF_CONTEXT_KERNEL), 0xff00, 0xff80,
                                      static_cast<uint64_t>(PERF_CONTEXT_USER),   0x4010, 0x4100};
  const std::vector<CallFrame> frames = split_callchain(chain, Mode::kernel);
  EXPECT_EQ(frames, (std::vector<CallFrame>{{RunAddress(0xff00), Mode::kernel},
                                            {RunAddress(0xff7f), Mode::kernel},
                                            {RunAddress(0x4010), Mode::user},
                                            {RunAddress(0x40ff), Mode::user}}));
}

TEST(SplitCallchain, LeavesOutWhatFollowsAnUnknownMarker) {
  const std::array<uint64_t, 4> chain{static_cast<uint64_t>(-3), 0x10,
                                      static_cast<uint64_t>(PERF_CONTEXT_USER), 0x20};
  EXPECT_EQ(split_callchain(chain, Mode::user),
            (std::vector<CallFrame>{{RunAddress(0x20), Mode::user}}));
}

TEST(ParseProcMaps, ReadsLinesOfTheKernel) {
  const auto maps = parse_proc_maps(
      "55d0c000-55d0e000 r-xp 00002000 fd:01 1234                       /usr/bin/a b\\012c\n"
      "7fff0000-7fff1000 rw-p 00000000 00:00 0 \n"
      "nonsense\n"
      "7fff8000-7fffa000 r-xp 00000000 00:00 0                          [vdso]");
  ASSERT_EQ(maps.size(), 3u);
  EXPECT_EQ(maps[0].start, RunAddress(0x55d0c000));
  EXPECT_EQ(maps[0].end, RunAddress(0x55d0e000));
  EXPECT_TRUE(maps[0].executable);
  EXPECT_EQ(maps[0].file_offset, 0x2000u);
  EXPECT_EQ(maps[0].device_major, 0xfdu);
  EXPECT_EQ(maps[0].inode, 1234u);
  EXPECT_EQ(maps[0].path, "/usr/bin/a b\nc");
  EXPECT_FALSE(maps[1].executable);
  EXPECT_EQ(maps[1].path, "");
  EXPECT_EQ(maps[2].path, "[vdso]");
}

TEST(ParseProcModules, ReadsNameSizeAndAddress) {
  const auto modules = parse_proc_modules(
      "nf_tables 294912 1 nft_chain, Live 0xffffffffc0a00000\n"
      "loop 40960 0 - Live 0x0000000000000000\n"
      "cut 123 0\n");
  ASSERT_EQ(modules.size(), 2u);
  EXPECT_EQ(modules[0].name, "nf_tables");
  EXPECT_EQ(modules[0].size_bytes, 294912u);
  EXPECT_EQ(modules[0].start, RunAddress(0xffffffffc0a00000));
  EXPECT_EQ(modules[1].start, RunAddress(0));
}

TEST(ParsePerfMap, TakesWholeLinesAndSaysWhereItStopped) {
  const std::string text = "7f00 20 LazyCompile:~f a.js:1\nbad line\n0x7f40 10 g\n8000 30 unfinis";
  size_t consumed = 0;
  const auto entries = parse_perf_map(text, consumed);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].start, RunAddress(0x7f00));
  EXPECT_EQ(entries[0].size_bytes, 0x20u);
  EXPECT_EQ(entries[0].name, "LazyCompile:~f a.js:1");
  EXPECT_EQ(entries[1].name, "g");
  EXPECT_EQ(consumed, text.find("8000"));
}

TEST(ParsePerfMap, RefusesRangesThatWrapAround) {
  size_t consumed = 0;
  EXPECT_TRUE(parse_perf_map("fffffffffffffff0 20 f\n10 0 g\n", consumed).empty());
}

class JitdumpOrders : public ::testing::TestWithParam<std::endian> {};
INSTANTIATE_TEST_SUITE_P(Endian, JitdumpOrders,
                         ::testing::Values(std::endian::little, std::endian::big));

TEST_P(JitdumpOrders, ReadsLoadsWithTheirLines) {
  Bytes file(GetParam());
  file.u32(0x4A695444).u32(1).u32(40).u32(62).u32(0).u32(99).u64(5).u64(0);
  const auto header = parse_jitdump_header(file.span());
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->order, GetParam());
  EXPECT_EQ(header->pid, 99u);
  EXPECT_EQ(header->elf_machine, 62u);  // EM_X86_64

  Bytes records(GetParam());
  // JIT_CODE_DEBUG_INFO: 16 header + 16 + (16 + "a.c\0") + (16 + "\xff\0")
  records.u32(2).u32(16 + 16 + 20 + 18).u64(7).u64(0x7000).u64(2);
  records.u64(0x7000).u32(10).u32(0).raw(std::string_view("a.c\0", 4));
  records.u64(0x7004).u32(11).u32(0).raw(std::string_view("\xff\0", 2));
  // JIT_CODE_LOAD: 16 header + 40 + "fun\0" + 3 bytes of code
  records.u32(0).u32(16 + 40 + 4 + 3).u64(8).u32(99).u32(99).u64(0x7000).u64(0x7000).u64(3).u64(1);
  records.raw(std::string_view("fun\0", 4)).raw("\x90\x90\xc3");
  records.u32(1).u32(16 + 48).u64(9).u32(99).u32(99).u64(0x8000).u64(0x7000).u64(0x8000).u64(3).u64(
      1);
  records.u32(3).u32(16).u64(10);
  const size_t whole = records.size();
  records.u32(0).u32(1000).u64(11);  // not all there yet

  std::vector<JitRecord> parsed;
  size_t consumed = 0;
  ASSERT_TRUE(parse_jitdump(records.span(), GetParam(), parsed, consumed).has_value());
  EXPECT_EQ(consumed, whole);
  ASSERT_EQ(parsed.size(), 4u);
  const auto& info = std::get<JitDebugInfo>(parsed[0]);
  ASSERT_EQ(info.lines.size(), 2u);
  EXPECT_EQ(info.lines[1].file, "a.c");  // "\xff" repeats the name
  EXPECT_EQ(info.lines[1].line, 11u);
  const auto& load = std::get<JitLoad>(parsed[1]);
  EXPECT_EQ(load.name, "fun");
  EXPECT_EQ(load.address, RunAddress(0x7000));
  EXPECT_EQ(load.code, "\x90\x90\xc3");
  EXPECT_EQ(load.time_ns, 8u);
  EXPECT_EQ(std::get<JitMove>(parsed[2]).to, RunAddress(0x8000));
}

TEST(ParseJitdump, RefusesSizesThatLie) {
  std::vector<JitRecord> parsed;
  size_t consumed = 0;
  const Bytes tiny = Bytes().u32(0).u32(8).u64(0);
  EXPECT_FALSE(parse_jitdump(tiny.span(), std::endian::little, parsed, consumed).has_value());
  const Bytes code = Bytes().u32(0).u32(57).u64(8).zeros(24).u64(UINT64_MAX).u64(1).u8(0);
  EXPECT_FALSE(parse_jitdump(code.span(), std::endian::little, parsed, consumed).has_value());
  EXPECT_TRUE(parsed.empty());
}

TEST(ParseElfIdentity, AgreesWithReadelf) {
  const std::string path = binary_folder() + "/records_test";
  FILE* const pipe = ::popen(("readelf -n " + path + " | sed -n 's/.*Build ID: //p'").c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  char line[128] = "";
  const bool has_build_id = std::fgets(line, sizeof line, pipe) != nullptr;
  ::pclose(pipe);
  if (!has_build_id) GTEST_SKIP() << "readelf is missing, or the linker made no build-id";
  std::string expected(line);
  expected.pop_back();

  const auto fd = open_readable(path);
  ASSERT_TRUE(fd.has_value());
  const auto file = MappedFile::map(fd->get(), path);
  ASSERT_TRUE(file.has_value());
  const auto identity = parse_elf_identity(file->bytes());
  ASSERT_TRUE(identity.has_value());
  EXPECT_EQ(identity->build_id, expected);
  EXPECT_TRUE(identity->is_program);
  EXPECT_FALSE(parse_elf_identity(file->bytes().first(30)).has_value());
}

TEST(ParseElfIdentity, CallsLibcALibrary) {
  // libc.so.6 can be run and has an interpreter, but it has a name as a library.
  const std::string path = "/lib/x86_64-linux-gnu/libc.so.6";
  const auto fd = open_readable(path);
  if (!fd) GTEST_SKIP() << fd.error().message;
  const auto file = MappedFile::map(fd->get(), path);
  ASSERT_TRUE(file.has_value());
  const auto identity = parse_elf_identity(file->bytes());
  ASSERT_TRUE(identity.has_value());
  EXPECT_FALSE(identity->is_program);
}

}  // namespace
}  // namespace culprit
