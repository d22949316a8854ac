#pragma once

// Who an ELF file is: its build-id and whether it is a program, from its first
// bytes, its segments and their notes alone (elf(5)).

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/result.h"

namespace culprit {

struct ElfIdentity {
  bool is_program = false;  // not a library: see the .cc for how PIEs are told from those
  std::string build_id;     // lower-case hexadecimal; "" if it has none
};

/// Bytes of a file from `offset` on, `size_bytes` of them or those up to its end; good until the
/// next call.
using FilePieces = std::function<std::span<const std::byte>(uint64_t offset, uint64_t size_bytes)>;

/// Asks for a few pieces of a file that is not there as a whole. Errors: as below.
Result<ElfIdentity> parse_elf_identity(const FilePieces& file);
/// An error if this is no ELF file. Damaged notes only mean that there is no build-id.
Result<ElfIdentity> parse_elf_identity(std::span<const std::byte> file);

/// The build-id in a stretch of ELF notes, such as /sys/kernel/notes; "" if there is none.
std::string find_build_id(std::span<const std::byte> notes, std::endian order);

}  // namespace culprit
