// Any bytes as the code of a function and the memory that it reads: the first byte chooses the
// architecture, the second how much is code. Nothing may crash or hang; tables belong to indirect
// jumps of the function, their targets ascend, and each stands once.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "base/result.h"
#include "code/decoder/decoder.h"
#include "code/jump_tables.h"

using namespace culprit;

namespace {

constexpr uint64_t kStart = 0x1000;

/// lea 0x10(%rip),%rdx; movslq (%rdx,%rdi,4),%rax; add %rdx,%rax; jmp *%rax: with a bound before
/// it and a table behind it, as gcc writes them; and a table of addresses.
void write_seeds(const std::string& folder) {
  using namespace std::string_literals;
  const std::string relative =
      "\x00\x20\x83\xff\x03\x77\x1a\x48\x8d\x15\x14\x00\x00\x00\x48\x63\x04\xba\x48\x01\xd0\xff\xe0"
      "\xc3\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x10\x00\x00\x00\x11\x00\x00\x00\x12\x00\x00\x00"
      "\x13\x00\x00\x00"s;
  const std::string absolute =
      "\x00\x10\x83\xff\x01\x77\x07\xff\x24\xfd\x10\x10\x00\x00\xc3\x90\x90"
      "\x90\x0e\x10\x00\x00\x00\x00\x00\x00\x0e\x10\x00\x00\x00\x00\x00\x00"s;
  // aarch64: cmp w0, #3; b.hi; adrp-less form: adr x1, table; ldrsw x0, [x1, w0, uxtw #2]; add; br
  const std::string arm =
      "\x01\x20\x1f\x0c\x00\x71\x88\x00\x00\x54\xa1\x00\x00\x10\x20\x58\xa0\xb8\x20\x00\x00\x8b\x00"
      "\x00\x1f\xd6\xc0\x03\x5f\xd6\x10\x00\x00\x00\x0c\x00\x00\x00"s;
  for (const auto& [name, bytes] :
       {std::pair("relative", &relative), {"absolute", &absolute}, {"arm", &arm}}) {
    std::ofstream(folder + "/" + name, std::ios::binary)
        .write(bytes->data(), static_cast<std::streamsize>(bytes->size()));
  }
}

const Decoder& decoder_of(bool is_x86) {
  static const Result<Decoder> x86 = Decoder::make("x86_64");
  static const Result<Decoder> arm = Decoder::make("aarch64");
  const Result<Decoder>& chosen = is_x86 ? x86 : arm;
  CHECK(chosen.has_value());
  return *chosen;
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
  if (size_bytes < 3) return 0;
  const bool is_x86 = data[0] % 2 == 0;
  const std::string_view image(reinterpret_cast<const char*>(data + 2), size_bytes - 2);
  const std::string_view code = image.substr(0, std::max<size_t>(data[1], 1) * 4);
  const Decoder& decoder = decoder_of(is_x86);
  const std::vector<Instruction> instructions =
      decoder.decode(code, LinkAddress(kStart), Detail::flow);
  const std::vector<Effect> effects = decoder.read_effects(code, instructions);
  CHECK(effects.size() == instructions.size());
  const auto read = [&](LinkAddress at, uint8_t bytes) -> std::optional<uint64_t> {
    const uint64_t from = at.value - kStart;
    if (at.value < kStart || from > image.size() || bytes > image.size() - from) {
      return std::nullopt;
    }
    uint64_t value = 0;
    std::memcpy(&value, image.data() + from, bytes);
    return value;
  };
  for (const JumpTable& table : find_jump_tables(instructions, effects, is_x86, read)) {
    CHECK(!table.targets.empty());
    CHECK(table.targets.size() <= kLongestJumpTable);
    CHECK(std::ranges::is_sorted(table.targets));
    CHECK(std::ranges::adjacent_find(table.targets) == table.targets.end());
    const auto jump = std::ranges::find(instructions, table.from, &Instruction::address);
    CHECK(jump != instructions.end() && jump->flow == Flow::indirect_jump);
  }
  return 0;
}
