#include "binary/inflated_elf.h"

#include <gtest/gtest.h>

#include "binary/test_programs.h"

namespace culprit {
namespace {

using test::ProgramFolder;
using test::run;

std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string section_text(const ElfFile& elf, const char* name) {
  const auto bytes = elf.section(name);
  return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : "";
}

TEST(InflatedElf, HasTheSectionsOfTheFileThatWasCompressed) {
  const ProgramFolder folder;
  const std::string plain_path = folder.build("plain", "g++", "-g");
  const std::string plain = *read_file(plain_path);
  const ElfFile expected = *ElfFile::open(as_bytes(plain));
  EXPECT_FALSE(InflatedElf::plan(expected));
  for (const char* method : {"zlib", "zstd"}) {
    const std::string path = folder.path(method);
    if (std::system(("objcopy --compress-debug-sections=" + std::string(method) + " " + plain_path +
                     " " + path + " 2>/dev/null")
                        .c_str()) != 0)
      continue;  // binutils without zstd; zlib is always there
    const std::string packed = *read_file(path);
    const ElfFile file = *ElfFile::open(as_bytes(packed));
    std::optional<InflatedElf> inflated = InflatedElf::plan(file);
    ASSERT_TRUE(inflated) << method;
    ASSERT_GE(inflated->job_count(), 1u);
    for (size_t i = inflated->job_count(); i-- > 0;) inflated->run(i);
    const ElfFile elf = *ElfFile::open(inflated->bytes());
    EXPECT_EQ(elf.build_id(), expected.build_id());
    for (const char* name :
         {".debug_info", ".debug_str", ".debug_line", ".debug_abbrev", ".text", ".symtab"})
      EXPECT_EQ(section_text(elf, name), section_text(expected, name)) << method << name;
  }
}

TEST(InflatedElf, MakesDamagedSectionsEmpty) {
  const ProgramFolder folder;
  const std::string path = folder.build("program", "g++", "-g -gz=zlib");
  const std::string sound = *read_file(path);
  // readelf -SW: where .debug_info is
  const size_t at = std::stoull(run("readelf -SW " + path +
                                    " | sed 's/^ *\\[ *[0-9]*\\]//' | awk '$1 == \".debug_info\" "
                                    "{print \"0x\" $4}'"),
                                nullptr, 16);
  for (size_t i = 0; i < 200; ++i) {
    std::string damaged = sound;
    damaged[at + i] = static_cast<char>(damaged[at + i] ^ 0x55);
    const Result<ElfFile> file = ElfFile::open(as_bytes(damaged));
    if (!file) continue;  // the size it claims is refused
    std::optional<InflatedElf> inflated = InflatedElf::plan(*file);
    if (!inflated) continue;
    for (size_t job = 0; job < inflated->job_count(); ++job) inflated->run(job);
    const Result<ElfFile> elf = ElfFile::open(inflated->bytes());
    ASSERT_TRUE(elf.has_value());
    EXPECT_NE(section_text(*elf, ".debug_str"), "");
    if (i >= 24 + 2 && i < 40) {  // behind both headers: data that the checksum covers
      EXPECT_EQ(section_text(*elf, ".debug_info"), "");
    }
  }
}

}  // namespace
}  // namespace culprit
