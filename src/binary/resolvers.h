#pragma once

// Functions that the dynamic linker calls once to choose among several (STT_GNU_IFUNC: memcpy by
// what the CPU has). Symbols name them as what they choose; calls go to the chosen one.

#include "base/address.h"
#include "binary/elf_file.h"

namespace culprit {

/// Whether the function that begins there is one.
bool is_resolver(const ElfFile& elf, LinkAddress begin);

}  // namespace culprit
