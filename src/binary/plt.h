#pragma once

// PLT stubs: the few instructions through which a call leaves for another
// library. Linkers give them no symbol; their name follows from the slot they
// jump through:
//
//   .plt.sec:  endbr64; jmp *0x2fca(%rip)   -> slot 0x3fd0
//   .rela.plt: 0x3fd0 R_X86_64_JUMP_SLOT memcpy   -> "memcpy@plt"

#include <string>
#include <vector>

#include "base/address.h"
#include "binary/elf_file.h"

namespace culprit {

struct PltStub {
  LinkAddress begin;
  uint64_t size_bytes = 0;
  std::string name;  // "memcpy@plt", mangled where the function is
};

/// Stubs of an x86-64 file; empty for others.
std::vector<PltStub> find_plt_stubs(const ElfFile& file);

}  // namespace culprit
