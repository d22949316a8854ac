#include "records/elf_identity.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <optional>

#include "base/bytes.h"
#include "records/hex.h"

namespace culprit {

namespace {

constexpr size_t kLongestBuildId = 64;

struct Segment {
  uint32_t type = 0;
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
  uint64_t alignment = 0;
};

/// An integer at `offset`; nullopt outside the file.
template <class T>
std::optional<uint64_t> find_integer(std::span<const std::byte> file, uint64_t offset,
                                     std::endian order) {
  if (offset > file.size()) return std::nullopt;
  const Result<T> value = ByteReader(file.subspan(offset), order).take<T>();
  if (!value) return std::nullopt;
  return *value;
}

struct ElfReader {
  std::span<const std::byte> file;
  std::endian order;
  bool is_64;

  [[nodiscard]] std::optional<uint64_t> word(uint64_t offset) const {
    return is_64 ? find_integer<uint64_t>(file, offset, order)
                 : find_integer<uint32_t>(file, offset, order);
  }
  [[nodiscard]] std::optional<uint64_t> half(uint64_t offset) const {
    return find_integer<uint16_t>(file, offset, order);
  }

  [[nodiscard]] std::optional<Segment> segment(uint64_t at) const {
    const auto type = find_integer<uint32_t>(file, at, order);
    const auto offset =
        word(at + (is_64 ? offsetof(Elf64_Phdr, p_offset) : offsetof(Elf32_Phdr, p_offset)));
    const auto size =
        word(at + (is_64 ? offsetof(Elf64_Phdr, p_filesz) : offsetof(Elf32_Phdr, p_filesz)));
    const auto alignment =
        word(at + (is_64 ? offsetof(Elf64_Phdr, p_align) : offsetof(Elf32_Phdr, p_align)));
    if (!type || !offset || !size || !alignment) return std::nullopt;
    return Segment{static_cast<uint32_t>(*type), *offset, *size, *alignment};
  }
};

/// Notes have their name and content padded to 4 bytes (to 8 in segments aligned so).
std::string find_build_id(std::span<const std::byte> notes, std::endian order, size_t alignment) {
  ByteReader in(notes, order);
  const auto skip_padding = [&](size_t size) {
    const size_t padding = (alignment - size % alignment) % alignment;
    return in.take_bytes(std::min(padding, in.remaining())).has_value();
  };
  while (in.remaining() > 0) {
    const auto name_size = in.take<uint32_t>();
    const auto content_size = in.take<uint32_t>();
    const auto type = in.take<uint32_t>();
    if (!name_size || !content_size || !type) return "";
    const auto name = in.take_bytes(*name_size);
    if (!name || !skip_padding(sizeof(Elf64_Nhdr) + *name_size)) return "";
    const auto content = in.take_bytes(*content_size);
    if (!content) return "";
    const bool is_gnu = name->size() == sizeof ELF_NOTE_GNU &&
                        std::memcmp(name->data(), ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0;
    if (is_gnu && *type == NT_GNU_BUILD_ID && !content->empty() &&
        content->size() <= kLongestBuildId) {
      return format_hex(*content);
    }
    if (!skip_padding(*content_size)) return "";
  }
  return "";
}

struct DynamicFacts {
  bool has_soname = false;
  bool is_marked_pie = false;
};

DynamicFacts read_dynamic(const ElfReader& elf, const Segment& dynamic) {
  DynamicFacts facts;
  const uint64_t entry_bytes = elf.is_64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
  if (dynamic.offset > elf.file.size()) return facts;
  const uint64_t size_bytes = std::min(dynamic.size_bytes, elf.file.size() - dynamic.offset);
  for (uint64_t at = 0; at + entry_bytes <= size_bytes; at += entry_bytes) {
    const auto tag = elf.word(dynamic.offset + at);
    const auto value = elf.word(dynamic.offset + at + entry_bytes / 2);
    if (!tag || !value || *tag == DT_NULL) break;
    if (*tag == DT_SONAME) facts.has_soname = true;
    if (*tag == DT_FLAGS_1 && (*value & DF_1_PIE) != 0) facts.is_marked_pie = true;
  }
  return facts;
}

}  // namespace

std::string find_build_id(std::span<const std::byte> notes, std::endian order) {
  return find_build_id(notes, order, 4);
}

Result<ElfIdentity> parse_elf_identity(std::span<const std::byte> file) {
  if (file.size() < sizeof(Elf32_Ehdr) || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0) {
    return Error{"not an ELF file"};
  }
  const auto order = static_cast<unsigned char>(file[EI_DATA]) == ELFDATA2MSB ? std::endian::big
                                                                              : std::endian::little;
  const bool is_64 = static_cast<unsigned char>(file[EI_CLASS]) == ELFCLASS64;
  const ElfReader elf{file, order, is_64};
  const auto type = elf.half(offsetof(Elf64_Ehdr, e_type));
  const auto table =
      elf.word(is_64 ? offsetof(Elf64_Ehdr, e_phoff) : offsetof(Elf32_Ehdr, e_phoff));
  const auto entry =
      elf.half(is_64 ? offsetof(Elf64_Ehdr, e_phentsize) : offsetof(Elf32_Ehdr, e_phentsize));
  const auto count =
      elf.half(is_64 ? offsetof(Elf64_Ehdr, e_phnum) : offsetof(Elf32_Ehdr, e_phnum));
  if (!type || !table || !entry || !count) return Error{"ELF header cut short"};

  ElfIdentity identity;
  bool has_interpreter = false;
  DynamicFacts dynamic;
  for (uint64_t i = 0; i < *count && *table <= file.size(); ++i) {
    const auto segment = elf.segment(*table + i * *entry);
    if (!segment) break;
    if (segment->type == PT_INTERP) has_interpreter = true;
    if (segment->type == PT_DYNAMIC) dynamic = read_dynamic(elf, *segment);
    const bool is_inside =
        segment->offset <= file.size() && segment->size_bytes <= file.size() - segment->offset;
    if (segment->type == PT_NOTE && is_inside && identity.build_id.empty()) {
      identity.build_id = find_build_id(file.subspan(segment->offset, segment->size_bytes), order,
                                        segment->alignment == 8 ? 8 : 4);
    }
  }
  // libc has an interpreter too, but it has a name as a library; a static program that can be
  // loaded anywhere has neither, but is marked.
  identity.is_program =
      *type == ET_EXEC || dynamic.is_marked_pie || (has_interpreter && !dynamic.has_soname);
  return identity;
}

}  // namespace culprit
