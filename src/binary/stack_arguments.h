#pragma once

// How many bytes of arguments a caller hands to a function on the stack, as debug information says.

#include <cstdint>
#include <optional>

#include "base/address.h"
#include "binary/elf_file.h"

namespace culprit {

/// What structures by value take there in the System V ABI of x86-64: each of more than 16 bytes.
/// Units:  [bytes]
/// Errors: nullopt where the file has no debug information of the function that begins there
std::optional<uint64_t> find_stack_arguments(const ElfFile& file, LinkAddress function);

}  // namespace culprit
