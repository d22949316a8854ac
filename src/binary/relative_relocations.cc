#include "binary/relative_relocations.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace culprit {

RelativeRelocations RelativeRelocations::read(const ElfFile& file) {
  RelativeRelocations all;
  const std::string architecture = file.architecture();
  const bool is_x86 = architecture == "x86_64";
  if (!is_x86 && architecture != "aarch64") return all;
  const uint64_t wanted = is_x86 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE;
  const auto bytes = file.section(".rela.dyn");
  if (!bytes) return all;
  for (size_t at = 0; at + sizeof(Elf64_Rela) <= bytes->size(); at += sizeof(Elf64_Rela)) {
    Elf64_Rela one;
    std::memcpy(&one, bytes->data() + at, sizeof one);
    if (ELF64_R_TYPE(one.r_info) != wanted) continue;
    all.values_.emplace_back(LinkAddress(one.r_offset), static_cast<uint64_t>(one.r_addend));
  }
  if (!std::is_sorted(all.values_.begin(), all.values_.end())) {
    std::sort(all.values_.begin(), all.values_.end());
  }
  return all;
}

std::optional<uint64_t> RelativeRelocations::find(LinkAddress at) const {
  const auto found =
      std::lower_bound(values_.begin(), values_.end(), at,
                       [](const auto& one, LinkAddress address) { return one.first < address; });
  if (found == values_.end() || found->first != at) return std::nullopt;
  return found->second;
}

}  // namespace culprit
