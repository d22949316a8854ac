#include "binary/elf_file.h"

#include <cstring>
#include <gtest/gtest.h>

#include "base/file.h"
#include "binary/test_programs.h"

namespace culprit {
namespace {

using test::ProgramFolder;
using test::run;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(ElfFile, KnowsProgramsLibrariesAndObjects) {
  const ProgramFolder folder;
  const std::string pie = *read_file(folder.build("pie", "g++", "-pie -fPIE"));
  const std::string fixed = *read_file(folder.build("fixed", "g++", "-no-pie"));
  run("cd " + folder.path() + " && gcc -shared -fPIC -x c /dev/null -o lib.so");
  const std::string library = *read_file(folder.path("lib.so"));
  const std::string object = *read_file(folder.path("pie_main.o"));
  EXPECT_EQ(ElfFile::open(bytes_of(pie))->kind(), ElfKind::program);
  EXPECT_EQ(ElfFile::open(bytes_of(fixed))->kind(), ElfKind::program);
  EXPECT_EQ(ElfFile::open(bytes_of(library))->kind(), ElfKind::library);
  EXPECT_EQ(ElfFile::open(bytes_of(object))->kind(), ElfKind::relocatable);
  // uname -m
  EXPECT_EQ(ElfFile::open(bytes_of(pie))->architecture() + "\n", run("uname -m"));
}

TEST(ElfFile, ReadsTheBuildId) {
  const ProgramFolder folder;
  const std::string program =
      folder.build("program", "g++", "-Wl,--build-id=0x00112233445566778899aabbccddeeff00112233");
  const std::string content = *read_file(program);
  EXPECT_EQ(ElfFile::open(bytes_of(content))->build_id(),
            "00112233445566778899aabbccddeeff00112233");
  run("objcopy --remove-section=.note.gnu.build-id " + program + " " + program + ".none");
  const std::string none = *read_file(folder.build("none", "g++", "-Wl,--build-id=none"));
  EXPECT_EQ(ElfFile::open(bytes_of(none))->build_id(), "");
}

TEST(ElfFile, MapsOffsetsToAddressesAndBack) {
  const ProgramFolder folder;
  const std::string program = folder.build("program", "g++", "-no-pie");
  const std::string content = *read_file(program);
  const ElfFile elf = *ElfFile::open(bytes_of(content));
  // objdump -h: "idx name size vma lma offset ..." of .text
  const std::string line = run("objdump -h " + program + " | grep ' \\.text '");
  unsigned long long size = 0;
  unsigned long long vma = 0;
  unsigned long long offset = 0;
  ASSERT_EQ(std::sscanf(line.c_str(), " %*d .text %llx %llx %*x %llx", &size, &vma, &offset), 3);
  EXPECT_EQ(elf.to_link_address(FileOffset(offset + 5)), LinkAddress(vma + 5));
  EXPECT_EQ(elf.to_file_offset(LinkAddress(vma + 5)), FileOffset(offset + 5));
  EXPECT_FALSE(elf.to_link_address(FileOffset(content.size() + 100)).has_value());
  const auto code = elf.loaded_bytes(LinkAddress(vma), LinkAddress(vma + 16));
  ASSERT_EQ(code.size(), 16u);
  EXPECT_EQ(std::memcmp(code.data(), content.data() + offset, 16), 0);
}

TEST(ElfFile, ReadsTheDebugLinkAndItsChecksum) {
  const ProgramFolder folder;
  folder.build("program", "g++", "-g");
  run("cd " + folder.path() +
      " && objcopy --only-keep-debug program program.debug && strip program"
      " && objcopy --add-gnu-debuglink=program.debug program");
  const std::string stripped = *read_file(folder.path("program"));
  const std::string debug = *read_file(folder.path("program.debug"));
  const ElfFile elf = *ElfFile::open(bytes_of(stripped));
  ASSERT_TRUE(elf.debug_link().has_value());
  EXPECT_EQ(elf.debug_link()->name, "program.debug");
  EXPECT_EQ(elf.debug_link()->crc, compute_debug_link_crc(bytes_of(debug)));  // by objcopy
  EXPECT_EQ(elf.debug_info_bytes(), 0u);
  EXPECT_TRUE(elf.has_code());
  const ElfFile debug_elf = *ElfFile::open(bytes_of(debug));
  EXPECT_GT(debug_elf.debug_info_bytes(), 0u);
  EXPECT_FALSE(debug_elf.has_code());
}

TEST(ElfFile, RefusesWhatIsNotElf) {
  EXPECT_FALSE(ElfFile::open({}));
  EXPECT_FALSE(
      ElfFile::open(bytes_of("#!/bin/sh\necho an honest script, not a program, and long "
                             "enough to have been a header\n")));
  EXPECT_FALSE(
      ElfFile::open(bytes_of("\x7f"
                             "ELF")));
}

TEST(ElfFile, SurvivesEveryTruncation) {
  const ProgramFolder folder;
  const std::string content = *read_file(folder.build("program", "g++", "-g -gz"));
  for (size_t size = 0; size < content.size(); size += 97) {
    const std::string cut = content.substr(0, size);
    const Result<ElfFile> elf = ElfFile::open(bytes_of(cut));
    if (!elf) continue;
    (void)elf->section(".debug_info");
    (void)elf->debug_link();
    const auto code = elf->loaded_bytes(LinkAddress(0x1000), LinkAddress(0x2000));
    EXPECT_LE(code.size(), cut.size());
  }
}

TEST(ElfFile, RefusesCompressedSectionsThatClaimTheMoon) {
  const ProgramFolder folder;
  std::string content = *read_file(folder.build("program", "g++", "-g -gz"));
  // Elf64_Chdr of .debug_info: type 1 (zlib), reserved 0, size, alignment 1.
  const std::string line = run("readelf -SW " + folder.path("program") + " | grep ' .debug_info'");
  unsigned long long offset = 0;
  ASSERT_EQ(std::sscanf(line.c_str(), " [%*d] .debug_info PROGBITS %*x %llx", &offset), 1);
  const uint64_t claimed_bytes = uint64_t{1} << 50;
  std::memcpy(content.data() + offset + 8, &claimed_bytes, sizeof claimed_bytes);
  EXPECT_FALSE(ElfFile::open(bytes_of(content)));
}

}  // namespace
}  // namespace culprit
