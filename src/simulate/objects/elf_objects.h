#pragma once

// What an ELF file says of data: variables and sections, where its bytes are loaded, and which of
// its functions allocate, or belong to OpenMP. Pure: bytes in, values out. A small reader of its
// own, since it runs in the program's process, where neither elfutils nor LLVM are.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "openmp/runtime_calls.h"
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

/// A function at which OpenMP constructs begin or end; Step::none: one that is a construct's body.
struct ElfConstructEdge {
  uint64_t address = 0;
  openmp::RuntimeCall call{};
};

struct ElfLoad {
  uint64_t offset = 0;
  uint64_t address = 0;
  uint64_t file_bytes = 0;
  uint64_t memory_bytes = 0;
  bool is_code = false;
};

/// A program's thread-local variables: each thread has a block of them, beside its thread pointer.
/// (Those of libraries are wherever the dynamic linker finds room.)
struct ElfThreadBlock {
  int64_t begin = 0;                   // from the thread pointer on
  std::vector<ElfVariable> variables;  // `address`: from the block's beginning on
};

struct ElfObjects {
  std::vector<ElfLoad> loads;
  std::vector<ElfVariable> sections;   // that hold data in memory
  std::vector<ElfVariable> variables;  // in the order of addresses, larger ones first
  ElfThreadBlock thread_block;         // of a library: empty
  std::vector<ElfFunction> allocators;
  std::vector<ElfConstructEdge> construct_edges;
  /// Where functions begin, in ascending order: by the table of the unwinder, which stripped files
  /// have, too; by symbols where there is none, as in many static programs; and each section of
  /// code.
  std::vector<uint64_t> functions;

  /// The place in the file of what is at the address in memory, also of what the file does not
  /// hold (.bss), as if it went on.
  [[nodiscard]] uint64_t offset_of(uint64_t address) const;

  /// What addresses in the file are short of those in a process that has mapped a piece of it with
  /// code from `start` to `end`. nullopt: there is no code of the file in it.
  [[nodiscard]] std::optional<uint64_t> find_bias(uint64_t start, uint64_t end,
                                                  uint64_t file_offset) const;
};

/// `own`: functions that allocate, too, whatever they are called.
/// Errors: no 64-bit little-endian ELF file, tables beyond its end.
Result<ElfObjects> parse_elf_objects(std::span<const std::byte> bytes,
                                     std::span<const OwnAllocator> own = {});

}  // namespace culprit::objects
