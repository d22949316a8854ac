#include "binary/frame_ranges.h"

#include <gtest/gtest.h>
#include <map>
#include <regex>

#include "binary/test_programs.h"

namespace culprit {
namespace {

using test::ProgramFolder;
using test::run;

using Ranges = std::map<uint64_t, uint64_t>;

Ranges ranges_of(std::string_view content) {
  const Result<ElfFile> elf = ElfFile::open(std::as_bytes(std::span(content)));
  Ranges ranges;
  if (elf)
    for (const AddressRange& r : read_frame_ranges(*elf))
      ranges.emplace(r.begin.value, r.end.value);
  return ranges;
}

/// "pc=A..B" of every FDE.
Ranges ranges_by_readelf(const std::string& path) {
  const std::string text = run("readelf --debug-dump=frames " + path);
  const std::regex fde("FDE .*pc=([0-9a-f]+)\\.\\.([0-9a-f]+)");
  Ranges ranges;
  for (std::sregex_iterator at(text.begin(), text.end(), fde), end; at != end; ++at)
    ranges.emplace(std::stoull((*at)[1], nullptr, 16), std::stoull((*at)[2], nullptr, 16));
  return ranges;
}

TEST(FrameRanges, AreThoseOfReadelf) {
  const ProgramFolder folder;
  // With exceptions there are several CIEs, with a personality and an LSDA; the last
  // program has its own functions in .debug_frame and the C library's in .eh_frame.
  for (const char* flags : {"-s", "-s -static-libgcc -static-libstdc++ -static", "-s -no-pie",
                            "-g -fno-asynchronous-unwind-tables -fno-exceptions"}) {
    const std::string program = folder.build("program", "g++", flags);
    const Ranges expected = ranges_by_readelf(program);
    ASSERT_GE(expected.size(), 3u) << flags;
    EXPECT_EQ(ranges_of(*read_file(program)), expected) << flags;
  }
}

TEST(FrameRanges, SurviveDamage) {
  const ProgramFolder folder;
  const std::string content = *read_file(folder.build("program", "g++", "-s"));
  const Ranges sound = ranges_of(content);
  const size_t table = content.find(std::string("\x01zR\0", 4));
  ASSERT_NE(table, std::string::npos);
  for (size_t i = 0; i < 400; ++i) {
    for (const char damage : {'\0', '\xff', '\x7f', 'z'}) {
      std::string damaged = content;
      damaged[table - 8 + i] = damage;
      EXPECT_LE(ranges_of(damaged).size(), sound.size() + 400);
    }
  }
  for (size_t size = 0; size < content.size(); size += 997)
    EXPECT_LE(ranges_of(std::string_view(content).substr(0, size)).size(), sound.size());
}

}  // namespace
}  // namespace culprit
