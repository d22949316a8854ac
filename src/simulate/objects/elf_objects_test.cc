#include "simulate/objects/elf_objects.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <random>
#include <thread>

#include "base/file.h"

// The sanitizer gives each variable a zone behind it that its symbol's size includes.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define VARIABLES_ARE_PADDED
#endif
#endif

extern "C" {
// What the test looks for in its own file.
extern uint64_t elf_objects_test_table[37];
uint64_t elf_objects_test_table[37] = {1};
// In a block of each thread.
extern thread_local uint64_t elf_objects_test_first[5];
thread_local uint64_t elf_objects_test_first[5] = {1};
extern thread_local char elf_objects_test_aligned[64];
alignas(64) thread_local char elf_objects_test_aligned[64];
int elf_objects_test_function();
int elf_objects_test_function() {
  return 1;
}
}

namespace culprit::objects {
namespace {

MappedFile own_file() {
  const Result<Fd> fd = open_readable("/proc/self/exe");
  return *MappedFile::map(fd->get(), "self");
}

TEST(ElfObjects, FindVariablesSectionsAndSegments) {
  const MappedFile file = own_file();
  const Result<ElfObjects> elf = parse_elf_objects(file.bytes());
  ASSERT_TRUE(elf);
  const auto found =
      std::find_if(elf->variables.begin(), elf->variables.end(),
                   [](const ElfVariable& one) { return one.name == "elf_objects_test_table"; });
  ASSERT_NE(found, elf->variables.end());
#ifdef VARIABLES_ARE_PADDED
  EXPECT_GT(found->size_bytes, sizeof elf_objects_test_table);
#else
  EXPECT_EQ(found->size_bytes, sizeof elf_objects_test_table);
#endif
  // The file has the variable's first value where offset_of() says.
  uint64_t first = 0;
  std::memcpy(&first, file.bytes().data() + elf->offset_of(found->address), sizeof first);
  EXPECT_EQ(first, 1U);
  const auto has_section = [&](const char* name) {
    return std::any_of(elf->sections.begin(), elf->sections.end(),
                       [&](const ElfVariable& one) { return one.name == name; });
  };
  EXPECT_TRUE(has_section(".data"));
  EXPECT_TRUE(has_section(".bss"));
  EXPECT_FALSE(has_section(".text"));
  EXPECT_TRUE(std::is_sorted(elf->variables.begin(), elf->variables.end(),
                             [](const auto& a, const auto& b) { return a.address < b.address; }));
}

/// Each function that can be called has rules by which the unwinder leaves it.
TEST(ElfObjects, FindWhereFunctionsBegin) {
  const MappedFile file = own_file();
  const Result<ElfObjects> elf = parse_elf_objects(file.bytes());
  ASSERT_TRUE(elf);
  const auto begin = reinterpret_cast<uint64_t>(&elf_objects_test_function);
  const auto loaded_at = reinterpret_cast<uint64_t>(&elf_objects_test_table);
  const auto table =
      std::find_if(elf->variables.begin(), elf->variables.end(),
                   [](const ElfVariable& one) { return one.name == "elf_objects_test_table"; });
  ASSERT_NE(table, elf->variables.end());
  const uint64_t bias = loaded_at - table->address;
  EXPECT_TRUE(std::binary_search(elf->functions.begin(), elf->functions.end(), begin - bias));
  EXPECT_TRUE(std::is_sorted(elf->functions.begin(), elf->functions.end()));
}

/// The compiler knows where a thread's own variables are, in whichever thread.
TEST(ElfObjects, FindVariablesOfThreads) {
  const MappedFile file = own_file();
  const Result<ElfObjects> elf = parse_elf_objects(file.bytes());
  ASSERT_TRUE(elf);
  const auto check = [&](const char* name, const void* there) {
    const auto found = std::ranges::find(elf->thread_block.variables, name, &ElfVariable::name);
    ASSERT_NE(found, elf->thread_block.variables.end()) << name;
    const auto pointer = reinterpret_cast<uint64_t>(__builtin_thread_pointer());
    const auto begin = static_cast<uint64_t>(elf->thread_block.begin);
    EXPECT_EQ(pointer + begin + found->address, reinterpret_cast<uint64_t>(there)) << name;
  };
  const auto check_both = [&] {
    check("elf_objects_test_first", elf_objects_test_first);
    check("elf_objects_test_aligned", elf_objects_test_aligned);
  };
  check_both();
  std::thread(check_both).join();
  EXPECT_TRUE(std::ranges::none_of(
      elf->variables, [](const ElfVariable& one) { return one.name == "elf_objects_test_first"; }));
}

TEST(ElfObjects, RefuseWhatIsNone) {
  EXPECT_FALSE(parse_elf_objects({}));
  const std::vector<std::byte> zeros(4096);
  EXPECT_FALSE(parse_elf_objects(zeros));
}

/// Whatever is changed in a file, or cut off it: an error or some values, and no crash.
TEST(ElfObjects, SurviveHostileBytes) {
  const MappedFile file = own_file();
  const std::span<const std::byte> all = file.bytes();
  // The tables of sections are at the end: a small file is made of the head and the tables.
  const std::span<const std::byte> head = all.first(std::min<size_t>(all.size(), 1 << 16));
  std::vector<std::byte> bytes(head.begin(), head.end());
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const size_t tables = size_t{header.e_shnum} * sizeof(Elf64_Shdr);
  const size_t at = bytes.size();
  bytes.insert(bytes.end(), all.begin() + static_cast<ptrdiff_t>(header.e_shoff),
               all.begin() + static_cast<ptrdiff_t>(header.e_shoff + tables));
  header.e_shoff = at;
  std::memcpy(bytes.data(), &header, sizeof header);
  ASSERT_TRUE(parse_elf_objects(bytes));
  std::mt19937_64 random(1);  // NOLINT: repeatable
  for (int round = 0; round < 300; ++round) {
    std::vector<std::byte> damaged = bytes;
    for (int i = 0; i < 20; ++i) {
      const size_t place = i % 2 == 0 ? random() % sizeof header : at + random() % tables;
      damaged[place] = static_cast<std::byte>(random());
    }
    if (round % 3 == 0) damaged.resize(random() % damaged.size());
    std::memcpy(damaged.data(), ELFMAG, std::min<size_t>(SELFMAG, damaged.size()));
    const Result<ElfObjects> elf = parse_elf_objects(damaged);
    if (elf) {
      for (const ElfVariable& one : elf->variables) (void)elf->offset_of(one.address);
    }
  }
}

}  // namespace
}  // namespace culprit::objects
