#include "binary/resolvers.h"

#include <algorithm>
#include <gelf.h>

namespace culprit {
namespace {

bool has_resolver(Elf_Data* table, size_t entry_bytes, uint64_t begin) {
  const size_t count = std::min<size_t>(table->d_size / entry_bytes, INT32_MAX);
  GElf_Sym symbol;
  for (int i = 1; static_cast<size_t>(i) < count && gelf_getsym(table, i, &symbol) != nullptr;
       ++i) {
    if (symbol.st_value == begin && GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC) return true;
  }
  return false;
}

}  // namespace

bool is_resolver(const ElfFile& elf, LinkAddress begin) {
  const size_t entry_bytes = gelf_fsize(elf.handle(), ELF_T_SYM, 1, EV_CURRENT);
  if (entry_bytes == 0) return false;
  for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf.handle(), scn)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(scn, &header) == nullptr) continue;
    if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) continue;
    Elf_Data* const table = elf_getdata(scn, nullptr);
    if (table != nullptr && has_resolver(table, entry_bytes, begin.value)) return true;
  }
  return false;
}

}  // namespace culprit
