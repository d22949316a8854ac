#include "binary/plt.h"

#include <algorithm>
#include <cstring>
#include <gelf.h>
#include <string_view>
#include <unordered_map>

namespace culprit {
namespace {

using SlotNames = std::unordered_map<uint64_t, const char*>;

/// Slot address -> symbol name, from the relocations that fill slots.
SlotNames read_slots(::Elf* elf, bool is_arm) {
  SlotNames slots;
  for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf, scn)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(scn, &header) == nullptr || header.sh_type != SHT_RELA) continue;
    Elf_Data* relocations = elf_getdata(scn, nullptr);
    Elf_Scn* symbol_scn = elf_getscn(elf, header.sh_link);
    GElf_Shdr symbol_header;
    if (relocations == nullptr || symbol_scn == nullptr ||
        gelf_getshdr(symbol_scn, &symbol_header) == nullptr || symbol_header.sh_type != SHT_DYNSYM)
      continue;
    Elf_Data* symbols = elf_getdata(symbol_scn, nullptr);
    if (symbols == nullptr) continue;
    const size_t count = std::min<size_t>(relocations->d_size / sizeof(Elf64_Rela), INT32_MAX);
    for (size_t i = 0; i < count; ++i) {
      GElf_Rela relocation;
      GElf_Sym symbol;
      if (gelf_getrela(relocations, static_cast<int>(i), &relocation) == nullptr) break;
      const uint64_t type = GELF_R_TYPE(relocation.r_info);
      if (type != (is_arm ? R_AARCH64_JUMP_SLOT : R_X86_64_JUMP_SLOT) &&
          type != (is_arm ? R_AARCH64_GLOB_DAT : R_X86_64_GLOB_DAT)) {
        continue;
      }
      const uint64_t index = GELF_R_SYM(relocation.r_info);
      if (index > INT32_MAX || gelf_getsym(symbols, static_cast<int>(index), &symbol) == nullptr)
        continue;
      const char* name = elf_strptr(elf, symbol_header.sh_link, symbol.st_name);
      if (name != nullptr && *name != '\0') slots.emplace(relocation.r_offset, name);
    }
  }
  return slots;
}

/// The slot that the stub at `address` jumps through: the first `ff 25 disp32`.
const char* find_target(std::span<const std::byte> stub, uint64_t address, const SlotNames& slots) {
  for (size_t i = 0; i + 6 <= stub.size(); ++i) {
    if (stub[i] != std::byte{0xff} || stub[i + 1] != std::byte{0x25}) continue;
    int32_t displacement = 0;
    std::memcpy(&displacement, &stub[i + 2], sizeof displacement);
    const uint64_t slot = address + i + 6 + static_cast<uint64_t>(int64_t{displacement});
    const auto found = slots.find(slot);
    return found == slots.end() ? nullptr : found->second;
  }
  return nullptr;
}

/// The slot of "adrp x16, page; ldr x17, [x16, #offset]", wherever that begins in the stub.
const char* find_arm_target(std::span<const std::byte> stub, uint64_t address,
                            const SlotNames& slots) {
  for (size_t i = 0; i + 8 <= stub.size(); i += 4) {
    uint32_t adrp = 0;
    uint32_t ldr = 0;
    std::memcpy(&adrp, &stub[i], sizeof adrp);
    std::memcpy(&ldr, &stub[i + 4], sizeof ldr);
    if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211) continue;
    const uint64_t high = adrp >> 5 & 0x7ffff;
    const uint64_t pages = (high << 2 | (adrp >> 29 & 3)) ^ 0x100000;  // 21 bits, signed
    const uint64_t slot = ((address + i) & ~uint64_t{0xfff}) + ((pages - 0x100000) << 12) +
                          ((ldr >> 10 & 0xfff) << 3);
    const auto found = slots.find(slot);
    return found == slots.end() ? nullptr : found->second;
  }
  return nullptr;
}

}  // namespace

std::vector<PltStub> find_plt_stubs(const ElfFile& file) {
  std::vector<PltStub> stubs;
  ::Elf* elf = file.handle();
  GElf_Ehdr header;
  size_t names = 0;
  if (gelf_getehdr(elf, &header) == nullptr ||
      (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64) ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || elf_getshdrstrndx(elf, &names) != 0)
    return stubs;
  const bool is_arm = header.e_machine == EM_AARCH64;
  SlotNames slots;
  for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf, scn)) != nullptr;) {
    GElf_Shdr section;
    if (gelf_getshdr(scn, &section) == nullptr || section.sh_type != SHT_PROGBITS) continue;
    const char* text = elf_strptr(elf, names, section.sh_name);
    if (text == nullptr || !std::string_view(text).starts_with(".plt")) continue;
    // ld writes entries of 16 bytes; those of .plt.got without endbr64 have 8.
    const uint64_t step = section.sh_entsize == 8 ? 8 : 16;
    const Elf_Data* data = elf_rawdata(scn, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    const std::span code(static_cast<const std::byte*>(data->d_buf), data->d_size);
    if (slots.empty()) slots = read_slots(elf, is_arm);
    for (uint64_t at = 0; at < code.size(); at += step) {
      const uint64_t size = std::min<uint64_t>(step, code.size() - at);
      const uint64_t address = section.sh_addr + at;
      const std::span<const std::byte> stub = code.subspan(at, size);
      if (const char* target =
              is_arm ? find_arm_target(stub, address, slots) : find_target(stub, address, slots))
        stubs.push_back({LinkAddress(address), size, std::string(target) + "@plt"});
    }
  }
  return stubs;
}

}  // namespace culprit
