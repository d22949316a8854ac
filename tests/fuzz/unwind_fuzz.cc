// Any registers and any stack against the unwind tables of a real program (this one), and any
// bytes as a file with unwind tables. Nothing may crash, hang or read outside.
//
// Input: a byte that says which; then registers and stack words, or the file. A stack word
// with an odd top byte is taken as an offset into the program, so that most walks go on.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <span>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "base/file.h"
#include "unwind/made_elf.h"
#include "unwind/unwinder.h"

namespace {

using namespace culprit;

constexpr uint64_t kBase = 0x5555'0000'0000;
constexpr uint64_t kStack = 0x7ffc'0000'0000;
constexpr uint64_t kMask = 0xff01ff;

std::optional<Fd> open_self() {
  Result<Fd> file = open_readable("/proc/self/exe");
  return file ? std::optional(*std::move(file)) : std::nullopt;
}

uint64_t size_of_self() {
  struct stat status{};
  return ::stat("/proc/self/exe", &status) == 0 ? static_cast<uint64_t>(status.st_size) : 1;
}

void unwind(Unwinder& unwinder, const AddressSpaces& spaces, uint64_t file_size,
            std::span<const std::byte> bytes) {
  std::vector<uint64_t> words(bytes.size() / sizeof(uint64_t));
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint64_t));
  for (uint64_t& word : words) {
    const bool is_code = (word >> 56 & 1) != 0;
    word = is_code ? kBase + (word & 0xffff'ffff) % file_size : kStack + (word & 0xffff);
  }
  constexpr size_t kRegisters = 17;
  if (words.size() < kRegisters) return;
  RegisterDump dump{PERF_SAMPLE_REGS_ABI_64, kMask, {}};
  dump.values.assign(words.begin(), words.begin() + kRegisters);
  dump.values[7] = kStack;
  const auto stack = std::as_bytes(std::span(words).subspan(kRegisters));
  const UnwoundStack result = unwinder.unwind(1, spaces, dump, stack);
  if (result.frames.size() > kMostUnwoundFrames) __builtin_trap();
}

// Seeds: a file with tables, and registers that point into the program.
void write_seeds(const std::string& folder) {
  MadeElf elf(EM_X86_64, 16, std::string("\x0c\7\x08\x90\1", 5));
  elf.add_function(0, 0x100, "");
  const std::string file = elf.bytes();
  std::ofstream(folder + "/file", std::ios::binary) << '\1' << file;
  std::ofstream(folder + "/walk", std::ios::binary) << '\0' << std::string(800, '\x21');
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  for (int i = 1; i < *count; ++i) {
    const std::string argument = (*arguments)[i];
    if (!argument.starts_with('-') && ::access(argument.c_str(), W_OK) == 0) write_seeds(argument);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_bytes) {
  if (size_bytes < 1) return 0;
  const auto bytes = std::as_bytes(std::span(data, size_bytes)).subspan(1);
  AddressSpaces spaces;
  if (data[0] % 2 == 0) {
    static const uint64_t size = size_of_self();
    static Unwinder unwinder("x86_64", [](uint32_t, const Mapping&) { return open_self(); });
    spaces.map(1, {RunAddress(kBase), RunAddress(kBase + size), 0, 1});
    unwind(unwinder, spaces, size, bytes);
    return 0;
  }
  const std::string file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  Unwinder unwinder("x86_64", [&](uint32_t, const Mapping&) { return MadeElf::open(file); });
  spaces.map(1, {RunAddress(kBase), RunAddress(kBase + MadeElf::kSize), 0, 1});
  std::vector<std::byte> words(40 * sizeof(uint64_t));
  for (size_t i = 0; i < 40; ++i) {
    const uint64_t word = (uint64_t{1} << 56) | (MadeElf::kCode + i * 8);
    std::memcpy(words.data() + i * sizeof word, &word, sizeof word);
  }
  unwind(unwinder, spaces, MadeElf::kSize, words);
  return 0;
}
