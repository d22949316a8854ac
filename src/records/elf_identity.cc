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
// Real programs have a dozen segments, notes of some hundred bytes and dynamic tables of a few
// thousand: what a hostile file claims is not read.
constexpr uint64_t kMostSegments = 4096;
constexpr uint64_t kMostBytes = 1 << 20;

struct Segment {
  uint32_t type = 0;
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
  uint64_t alignment = 0;
};

/// Bytes of a table of the file, and how its numbers are written.
struct ElfReader {
  std::span<const std::byte> bytes;
  std::endian order;
  bool is_64;

  /// nullopt past the end.
  template <class T>
  [[nodiscard]] std::optional<uint64_t> integer(uint64_t offset) const {
    if (offset > bytes.size()) return std::nullopt;
    const Result<T> value = ByteReader(bytes.subspan(offset), order).take<T>();
    if (!value) return std::nullopt;
    return *value;
  }
  [[nodiscard]] std::optional<uint64_t> word(uint64_t offset) const {
    return is_64 ? integer<uint64_t>(offset) : integer<uint32_t>(offset);
  }
  [[nodiscard]] std::optional<uint64_t> half(uint64_t offset) const {
    return integer<uint16_t>(offset);
  }

  /// The program header that they begin with.
  [[nodiscard]] std::optional<Segment> segment() const {
    const auto type = integer<uint32_t>(0);
    const auto offset =
        word(is_64 ? offsetof(Elf64_Phdr, p_offset) : offsetof(Elf32_Phdr, p_offset));
    const auto size = word(is_64 ? offsetof(Elf64_Phdr, p_filesz) : offsetof(Elf32_Phdr, p_filesz));
    const auto alignment =
        word(is_64 ? offsetof(Elf64_Phdr, p_align) : offsetof(Elf32_Phdr, p_align));
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

DynamicFacts read_dynamic(const ElfReader& dynamic) {
  DynamicFacts facts;
  const uint64_t entry_bytes = dynamic.is_64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
  for (uint64_t at = 0; at + entry_bytes <= dynamic.bytes.size(); at += entry_bytes) {
    const auto tag = dynamic.word(at);
    const auto value = dynamic.word(at + entry_bytes / 2);
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

Result<ElfIdentity> parse_elf_identity(const FilePieces& file) {
  const std::span<const std::byte> start = file(0, sizeof(Elf64_Ehdr));
  if (start.size() < sizeof(Elf32_Ehdr) || std::memcmp(start.data(), ELFMAG, SELFMAG) != 0) {
    return Error{"not an ELF file"};
  }
  const auto order = static_cast<unsigned char>(start[EI_DATA]) == ELFDATA2MSB
                         ? std::endian::big
                         : std::endian::little;
  const bool is_64 = static_cast<unsigned char>(start[EI_CLASS]) == ELFCLASS64;
  const ElfReader header{start, order, is_64};
  const auto type = header.half(offsetof(Elf64_Ehdr, e_type));
  const auto table =
      header.word(is_64 ? offsetof(Elf64_Ehdr, e_phoff) : offsetof(Elf32_Ehdr, e_phoff));
  const auto entry =
      header.half(is_64 ? offsetof(Elf64_Ehdr, e_phentsize) : offsetof(Elf32_Ehdr, e_phentsize));
  const auto count =
      header.half(is_64 ? offsetof(Elf64_Ehdr, e_phnum) : offsetof(Elf32_Ehdr, e_phnum));
  if (!type || !table || !entry || !count) return Error{"ELF header cut short"};

  ElfIdentity identity;
  bool has_interpreter = false;
  DynamicFacts dynamic;
  const uint64_t header_bytes = is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
  for (uint64_t i = 0; i < std::min(*count, kMostSegments); ++i) {
    const ElfReader at{file(*table + i * *entry, header_bytes), order, is_64};
    const auto segment = at.segment();
    if (!segment) break;
    if (segment->type == PT_INTERP) has_interpreter = true;
    const uint64_t size_bytes = std::min(segment->size_bytes, kMostBytes);
    if (segment->type == PT_DYNAMIC) {
      dynamic = read_dynamic({file(segment->offset, size_bytes), order, is_64});
    } else if (segment->type == PT_NOTE && identity.build_id.empty()) {
      const std::span<const std::byte> notes = file(segment->offset, size_bytes);
      if (notes.size() < segment->size_bytes) continue;
      identity.build_id = find_build_id(notes, order, segment->alignment == 8 ? 8 : 4);
    }
  }
  // libc has an interpreter too, but it has a name as a library; a static program that can be
  // loaded anywhere has neither, but is marked.
  identity.is_program =
      *type == ET_EXEC || dynamic.is_marked_pie || (has_interpreter && !dynamic.has_soname);
  return identity;
}

Result<ElfIdentity> parse_elf_identity(std::span<const std::byte> file) {
  return parse_elf_identity([file](uint64_t offset, uint64_t size_bytes) {
    if (offset > file.size()) return std::span<const std::byte>();
    return file.subspan(offset, std::min<uint64_t>(size_bytes, file.size() - offset));
  });
}

}  // namespace culprit
