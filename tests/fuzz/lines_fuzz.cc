// Any bytes as a line table, whose strings are the same bytes: files and the rows of two ranges.
// Nothing may crash, hang or read outside; rows are inside their range, in the order of addresses.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "binary/elf_file.h"
#include "binary/line_program.h"

using namespace culprit;

namespace {

/// The tables of this program's first units, by the length that each begins with.
void write_seeds(const std::string& folder) {
  const Result<std::string> self = read_file("/proc/self/exe");
  if (!self) return;
  const Result<ElfFile> elf = ElfFile::open(std::as_bytes(std::span(*self)));
  auto lines = elf ? elf->section(".debug_line") : std::nullopt;
  for (int unit = 0; lines && unit < 4 && lines->size() > 4; ++unit) {
    uint32_t length = 0;
    std::memcpy(&length, lines->data(), sizeof length);
    const size_t bytes = std::min<size_t>(sizeof length + size_t{length}, lines->size());
    std::ofstream(folder + "/seed" + std::to_string(unit), std::ios::binary)
        .write(reinterpret_cast<const char*>(lines->data()), static_cast<std::streamsize>(bytes));
    lines = lines->subspan(bytes);
  }
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
  const auto bytes = std::as_bytes(std::span(data, size_bytes));
  const auto program = LineProgram::parse({bytes, bytes, bytes}, 0, "/src");
  if (!program) return 0;
  const std::vector<AddressRange> ranges = {{LinkAddress(0x40), LinkAddress(0x1000)},
                                            {LinkAddress(0x1000), LinkAddress(UINT64_MAX)}};
  const auto found = program->run(ranges);
  if (!found) return 0;
  CHECK(found->size() == ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    const std::vector<LineRow>& rows = (*found)[i].rows;
    CHECK(std::ranges::is_sorted(rows, {}, &LineRow::address));
    for (const LineRow& row : rows) {
      CHECK(row.address > ranges[i].begin.value && row.address < ranges[i].end.value);
    }
  }
  return 0;
}
