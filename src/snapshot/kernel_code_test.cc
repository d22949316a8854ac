#include "snapshot/kernel_code.h"

#include <cstring>
#include <elf.h>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"
#include "binary/symbols.h"
#include "snapshot/kernel_symbols.h"

namespace culprit {
namespace {

constexpr uint64_t kText = 0xffffffff81000000;
constexpr uint64_t kModules = 0xffffffffc0000000;

/// A core file by hand, as the kernel makes it: a note, then memory at its addresses.
struct Core {
  Elf64_Ehdr header{};
  std::vector<Elf64_Phdr> segments;
  std::string memory;  // behind the headers

  Core() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_CORE;
    header.e_machine = EM_X86_64;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    add(PT_NOTE, 0, 0, 16);
  }
  void add(uint32_t type, uint64_t address, uint64_t offset, uint64_t size_bytes) {
    Elf64_Phdr one{};
    one.p_type = type;
    one.p_vaddr = address;
    one.p_offset = offset;
    one.p_filesz = size_bytes;
    segments.push_back(one);
    header.e_phnum = static_cast<uint16_t>(segments.size());
  }
  [[nodiscard]] std::string bytes() const {
    std::string all(reinterpret_cast<const char*>(&header), sizeof header);
    for (const Elf64_Phdr& one : segments) {
      all.append(reinterpret_cast<const char*>(&one), sizeof one);
    }
    return all + memory;
  }
};

constexpr uint64_t kHead = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);

/// "0123456789abcdef" at _text, "module" where modules are.
Core made_core() {
  Core core;
  core.add(PT_LOAD, kText, kHead, 16);
  core.add(PT_LOAD, kModules, kHead + 16, 6);
  core.memory = "0123456789abcdefmodule";
  return core;
}

Result<std::vector<KernelSegment>> parse(const std::string& bytes) {
  return parse_kernel_segments(std::as_bytes(std::span(bytes)));
}

/// The core file, opened: it has no name any more.
Result<KernelMemory> open_core(const std::string& bytes) {
  std::string path = testing::TempDir() + "/kcore.XXXXXX";
  const Fd file(::mkstemp(path.data()));
  EXPECT_TRUE(file);
  std::ofstream(path, std::ios::binary) << bytes;
  Result<KernelMemory> memory = KernelMemory::open(path);
  ::unlink(path.c_str());
  return memory;
}

TEST(KernelCode, IsWhatLiesAtItsAddress) {
  const Result<KernelMemory> memory = open_core(made_core().bytes());
  ASSERT_TRUE(memory) << memory.error().message;
  EXPECT_EQ(memory->read(kText, 4), "0123");
  EXPECT_EQ(memory->read(kText + 10, 6), "abcdef");
  EXPECT_EQ(memory->read(kModules + 3, 3), "ule");
}

TEST(KernelCode, BeyondASegmentIsNone) {
  const Result<KernelMemory> memory = open_core(made_core().bytes());
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->read(kText + 10, 7), "");
  EXPECT_EQ(memory->read(kText - 1, 2), "");
  EXPECT_EQ(memory->read(kText, UINT64_MAX), "");
  EXPECT_EQ(memory->read(UINT64_MAX, 2), "");
}

TEST(KernelCode, OfFunctionsCountsFromTheirBase) {
  const Result<KernelMemory> memory = open_core(made_core().bytes());
  ASSERT_TRUE(memory);
  ImageFacts facts;
  for (const auto& [begin, end] : {std::pair(2, 5), {10, 16}, {14, 20}}) {
    FunctionFact& one = facts.functions.emplace_back();
    one.begin = FileOffset(static_cast<uint64_t>(begin));
    one.end = FileOffset(static_cast<uint64_t>(end));
  }
  EXPECT_EQ(add_code_from_memory(*memory, kText, facts), 2u);  // the last one goes too far
  ASSERT_EQ(facts.code.size(), 2u);
  EXPECT_EQ(facts.code[0], (CodeFact{FileOffset(2), "234"}));
  EXPECT_EQ(facts.code[1], (CodeFact{FileOffset(10), "abcdef"}));
}

TEST(KernelCode, OfAFileThatWasCutIsNone) {
  std::string bytes = made_core().bytes();
  bytes.resize(kHead + 8);
  const Result<KernelMemory> memory = open_core(bytes);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->read(kText, 8), "01234567");
  EXPECT_EQ(memory->read(kText, 9), "");
  EXPECT_EQ(memory->read(kModules, 1), "");
}

TEST(KernelSegments, OfHostileFilesAreRefused) {
  const std::string good = made_core().bytes();
  for (size_t size = 0; size < kHead; ++size) EXPECT_FALSE(parse(good.substr(0, size))) << size;
  const auto refuses = [](auto change) {
    Core core = made_core();
    change(core);
    return !parse(core.bytes());
  };
  EXPECT_TRUE(refuses([](Core& core) { core.header.e_ident[0] = 'X'; }));
  EXPECT_TRUE(refuses([](Core& core) { core.header.e_ident[EI_CLASS] = ELFCLASS32; }));
  EXPECT_TRUE(refuses([](Core& core) { core.header.e_ident[EI_DATA] = ELFDATA2MSB; }));
  EXPECT_TRUE(refuses([](Core& core) { core.header.e_type = ET_EXEC; }));
  EXPECT_TRUE(refuses([](Core& core) { core.header.e_phentsize = 8; }));
  EXPECT_TRUE(refuses([](Core& core) { core.header.e_phnum = 0xffff; }));
  EXPECT_TRUE(refuses([](Core& core) { core.header.e_phoff = UINT64_MAX - 8; }));
}

TEST(KernelSegments, ThatWrapAroundAreLeftOut) {
  Core core = made_core();
  core.segments[1].p_filesz = UINT64_MAX;
  core.segments[2].p_offset = UINT64_MAX - 2;
  const auto segments = parse(core.bytes());
  ASSERT_TRUE(segments);
  EXPECT_TRUE(segments->empty());
}

extern "C" __attribute__((noinline)) int kernel_code_of_a_name(int x) {
  return x * 3 + (x >> 2);
}

// This program stands for a vmlinux: what a name has there is what runs here.
TEST(KernelCode, OfAVmlinuxIsByName) {
  const Result<std::string> self = read_file("/proc/self/exe");
  ASSERT_TRUE(self);
  const Result<ElfFile> elf = ElfFile::open(std::as_bytes(std::span(*self)));
  ASSERT_TRUE(elf);
  ImageFacts facts;
  FunctionFact& one = facts.functions.emplace_back();
  one.begin = FileOffset(0x40);
  one.end = FileOffset(0x44);
  one.name = facts.strings.intern("kernel_code_of_a_name");
  FunctionFact& absent = facts.functions.emplace_back();
  absent.begin = FileOffset(0x80);
  absent.end = FileOffset(0x84);
  absent.name = facts.strings.intern("kernel_code_of_no_name");
  ASSERT_EQ(add_code_from_vmlinux(*elf, facts), 1u);
  EXPECT_EQ(facts.code[0].begin, FileOffset(0x40));
  EXPECT_EQ(std::memcmp(facts.code[0].bytes.data(),
                        reinterpret_cast<const void*>(&kernel_code_of_a_name), 4),
            0);
}

// The kernel's own, where it may be read.
TEST(KernelMemoryHere, HasCode) {
  const Result<KernelMemory> memory = KernelMemory::open("/proc/kcore");
  if (!memory) GTEST_SKIP() << memory.error().message;
  EXPECT_EQ(memory->read(0x1000, 16), "");  // user addresses are not the kernel's
  const Result<KernelSymbols> symbols = read_kernel_symbols();
  ASSERT_TRUE(symbols);
  if (symbols->is_hidden) GTEST_SKIP() << "kernel addresses are hidden";
  EXPECT_EQ(memory->read(symbols->kernel_address, 16).size(), 16u);
}

}  // namespace
}  // namespace culprit
