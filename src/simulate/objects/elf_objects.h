#pragma once

// What an ELF file says of data: variables and sections, where its bytes are loaded, and which of
// its functions allocate. Pure: bytes in, values out. A small reader of its own, since it runs in
// the program's process, where neither elfutils nor LLVM are.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simulate/objects/allocators.h"

namespace culprit::objects {

/// Addresses are those in the file.
struct ElfVariable {
  std::string name;
  uint64_t address = 0;
  uint64_t size_bytes = 0;
};

struct ElfFunction {
  std::string name;
  uint64_t address = 0;
  Allocator allocator;
};

struct ElfLoad {
  uint64_t offset = 0;
  uint64_t address = 0;
  uint64_t file_bytes = 0;
  uint64_t memory_bytes = 0;
  bool is_code = false;
};

struct ElfObjects {
  std::vector<ElfLoad> loads;
  std::vector<ElfVariable> sections;   // that hold data in memory
  std::vector<ElfVariable> variables;  // in the order of addresses, larger ones first
  std::vector<ElfFunction> allocators;

  /// The place in the file of what is at the address in memory, also of what the file does not
  /// hold (.bss), as if it went on.
  [[nodiscard]] uint64_t offset_of(uint64_t address) const;
};

/// Errors: no 64-bit little-endian ELF file, tables beyond its end.
Result<ElfObjects> parse_elf_objects(std::span<const std::byte> bytes);

}  // namespace culprit::objects
