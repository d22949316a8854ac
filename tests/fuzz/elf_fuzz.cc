// Any bytes as an ELF file: headers, symbols, names and debug information of all its
// functions. Nothing may crash, hang or read outside.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "binary/debug_info.h"
#include "binary/demangle.h"
#include "binary/elf_file.h"
#include "binary/symbols.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_bytes) {
  using namespace culprit;
  const Result<ElfFile> elf = ElfFile::open(std::as_bytes(std::span(data, size_bytes)));
  if (!elf) return 0;
  (void)elf->debug_link();
  (void)elf->alt_link();
  const Symbols symbols = Symbols::read(*elf, nullptr);
  std::vector<AddressRange> wanted;
  for (const Symbol& symbol : symbols.all()) {
    (void)demangle(symbol.name);
    (void)elf->loaded_bytes(symbol.begin, symbol.end);
    wanted.push_back({symbol.begin, symbol.end});
  }
  Result<DebugInfo> debug = DebugInfo::open(*elf, *elf, nullptr, "");
  if (debug) (void)debug->read(std::move(wanted));
  return 0;
}
