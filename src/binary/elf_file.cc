#include "binary/elf_file.h"

#include <algorithm>
#include <cstring>
#include <gelf.h>
#include <libelf.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/CRC.h>
#include <utility>

#include "base/bytes.h"

namespace culprit {
namespace {

std::string to_hex(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte b : bytes) {
    text += kDigits[std::to_integer<unsigned>(b) >> 4];
    text += kDigits[std::to_integer<unsigned>(b) & 15];
  }
  return text;
}

struct ArchitectureName {
  uint16_t machine;
  const char* name;
};
constexpr ArchitectureName kArchitectures[] = {
    {EM_X86_64, "x86_64"}, {EM_386, "i686"},        {EM_AARCH64, "aarch64"}, {EM_ARM, "arm"},
    {EM_PPC64, "ppc64"},   {EM_PPC, "ppc"},         {EM_S390, "s390x"},      {EM_RISCV, "riscv64"},
    {EM_MIPS, "mips"},     {EM_SPARCV9, "sparc64"},
};

size_t align4(size_t n) {
  return (n + 3) & ~size_t{3};
}

/// The notes of one PT_NOTE or SHT_NOTE, in the file's byte order.
std::string find_build_id(std::span<const std::byte> notes, std::endian order) {
  ByteReader in(notes, order);
  while (in.remaining() >= 12) {
    const size_t name_size = *in.take<uint32_t>();
    const size_t data_size = *in.take<uint32_t>();
    const uint32_t type = *in.take<uint32_t>();
    if (name_size > in.remaining() || align4(name_size) > in.remaining()) break;
    const auto name = *in.take_bytes(align4(name_size));
    if (data_size > in.remaining()) break;
    const auto data = *in.take_bytes(data_size);
    if (type == NT_GNU_BUILD_ID && name_size == 4 && std::memcmp(name.data(), "GNU", 4) == 0)
      return data_size <= 64 ? to_hex(data) : "";
    const size_t padding = align4(data_size) - data_size;
    if (padding > in.remaining()) break;
    (void)in.take_bytes(padding);
  }
  return "";
}

std::endian byte_order(const GElf_Ehdr& header) {
  return header.e_ident[EI_DATA] == ELFDATA2MSB ? std::endian::big : std::endian::little;
}

/// The first section with this name that has bytes in the file.
Elf_Scn* find_section(::Elf* elf, std::string_view name, GElf_Shdr& header) {
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return nullptr;
  for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf, scn)) != nullptr;) {
    if (gelf_getshdr(scn, &header) == nullptr) continue;
    const char* text = elf_strptr(elf, names, header.sh_name);
    if (text != nullptr && name == text) return header.sh_type == SHT_NOBITS ? nullptr : scn;
  }
  return nullptr;
}

}  // namespace

std::string parse_build_id_notes(std::span<const std::byte> notes) {
  return find_build_id(notes, std::endian::native);
}

uint32_t compute_debug_link_crc(std::span<const std::byte> file) {
  return llvm::crc32(
      llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t*>(file.data()), file.size()));
}

void ElfFile::ElfEnd::operator()(::Elf* elf) const {
  elf_end(elf);
}
ElfFile::ElfFile(ElfFile&&) noexcept = default;
ElfFile& ElfFile::operator=(ElfFile&&) noexcept = default;
ElfFile::~ElfFile() = default;

Result<ElfFile> ElfFile::open(std::span<const std::byte> bytes) {
  static const unsigned version = elf_version(EV_CURRENT);
  CHECK(version != EV_NONE);
  if (bytes.size() < sizeof(Elf32_Ehdr) || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
    return Error{"not an ELF file"};

  ElfFile file;
  file.bytes_ = bytes;
  // libelf takes a char* but, opened like this, writes only to headers of compressed
  // sections, and those we copy below.
  const auto open_elf = [&] {
    char* start = reinterpret_cast<char*>(const_cast<std::byte*>(file.bytes_.data()));
    file.elf_.reset(elf_memory(start, file.bytes_.size()));
  };
  open_elf();
  if (!file.elf_ || elf_kind(file.elf_.get()) != ELF_K_ELF)
    return Error{"damaged ELF file: the header cannot be read"};
  ASSIGN_OR_RETURN(const bool compressed, file.has_compressed_sections());
  if (compressed) {
    file.elf_.reset();
    file.copy_.assign(bytes.begin(), bytes.end());
    file.bytes_ = file.copy_;
    open_elf();
    if (!file.elf_) return Error{"damaged ELF file: the header cannot be read"};
  }
  RETURN_IF_ERROR(file.read_headers());
  return file;
}

Result<bool> ElfFile::has_compressed_sections() const {
  size_t names = 0;
  if (elf_getshdrstrndx(elf_.get(), &names) != 0) return false;
  bool found = false;
  uint64_t total_bytes = 0;
  for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf_.get(), scn)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(scn, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* name = elf_strptr(elf_.get(), names, header.sh_name);
    if ((header.sh_flags & SHF_COMPRESSED) != 0) {
      GElf_Chdr compression;
      if (gelf_getchdr(scn, &compression) == nullptr) continue;
      total_bytes += std::min(compression.ch_size, UINT64_MAX - total_bytes);
      found = true;
    } else if (name != nullptr && std::strncmp(name, ".zdebug", 7) == 0) {
      if (header.sh_offset > bytes_.size() || bytes_.size() - header.sh_offset < 12) continue;
      ByteReader in(bytes_.subspan(header.sh_offset + 4), std::endian::big);  // after "ZLIB"
      const uint64_t claimed_bytes = *in.take<uint64_t>();
      total_bytes += std::min(claimed_bytes, UINT64_MAX - total_bytes);
      found = true;
    }
  }
  if (total_bytes > limit_inflated_bytes(bytes_.size()))
    return Error{"damaged ELF file: compressed sections claim " + std::to_string(total_bytes) +
                 " bytes in a file of " + std::to_string(bytes_.size())};
  return found;
}

Result<void> ElfFile::read_headers() {
  GElf_Ehdr header;
  size_t count = 0;
  if (gelf_getehdr(elf_.get(), &header) == nullptr) return Error{"damaged ELF file: no header"};
  if (elf_getphdrnum(elf_.get(), &count) != 0) count = 0;
  for (size_t i = 0; i < count && i < 65536; ++i) {
    GElf_Phdr program;
    if (gelf_getphdr(elf_.get(), static_cast<int>(i), &program) == nullptr) break;
    if (program.p_offset > bytes_.size()) continue;
    const uint64_t in_file = std::min<uint64_t>(program.p_filesz, bytes_.size() - program.p_offset);
    if (program.p_type == PT_NOTE && build_id_.empty())
      build_id_ = find_build_id(bytes_.subspan(program.p_offset, in_file), byte_order(header));
    // A debug file keeps program headers whose bytes are gone: they still map addresses.
    if (program.p_type == PT_LOAD && program.p_filesz > 0 &&
        program.p_filesz <= UINT64_MAX - program.p_vaddr &&
        program.p_filesz <= UINT64_MAX - program.p_offset)
      segments_.push_back({FileOffset(program.p_offset), program.p_filesz,
                           LinkAddress(program.p_vaddr), (program.p_flags & PF_X) != 0});
  }
  std::stable_sort(segments_.begin(), segments_.end(),
                   [](const ElfSegment& a, const ElfSegment& b) { return a.address < b.address; });
  if (build_id_.empty()) {
    if (const auto notes = section(".note.gnu.build-id"))
      build_id_ = find_build_id(*notes, byte_order(header));
  }
  return {};
}

std::string ElfFile::architecture() const {
  GElf_Ehdr header;
  if (gelf_getehdr(elf_.get(), &header) == nullptr) return "";
  for (const ArchitectureName& known : kArchitectures)
    if (known.machine == header.e_machine) return known.name;
  return "machine " + std::to_string(header.e_machine);
}

ElfKind ElfFile::kind() const {
  GElf_Ehdr header;
  if (gelf_getehdr(elf_.get(), &header) == nullptr) return ElfKind::other;
  if (header.e_type == ET_REL) return ElfKind::relocatable;
  if (header.e_type == ET_EXEC) return ElfKind::program;
  if (header.e_type != ET_DYN) return ElfKind::other;
  size_t count = 0;
  if (elf_getphdrnum(elf_.get(), &count) != 0) count = 0;
  for (size_t i = 0; i < count && i < 65536; ++i) {
    GElf_Phdr program;
    if (gelf_getphdr(elf_.get(), static_cast<int>(i), &program) == nullptr) break;
    if (program.p_type == PT_INTERP) return ElfKind::program;
  }
  return ElfKind::library;
}

std::optional<LinkAddress> ElfFile::to_link_address(FileOffset offset) const {
  const ElfSegment* best = nullptr;
  for (const ElfSegment& s : segments_) {
    if (offset < s.begin || offset - s.begin >= s.size_bytes) continue;
    // Segments may share a page of the file; code wins.
    if (best == nullptr || (s.executable && !best->executable)) best = &s;
  }
  if (best == nullptr) return std::nullopt;
  return best->address + (offset - best->begin);
}

std::optional<FileOffset> ElfFile::to_file_offset(LinkAddress address) const {
  for (const ElfSegment& s : segments_)
    if (address >= s.address && address - s.address < s.size_bytes)
      return s.begin + (address - s.address);
  return std::nullopt;
}

std::span<const std::byte> ElfFile::loaded_bytes(LinkAddress begin, LinkAddress end) const {
  for (const ElfSegment& s : segments_) {
    if (begin < s.address || begin - s.address >= s.size_bytes || end <= begin) continue;
    const uint64_t skipped = begin - s.address;
    const uint64_t at = s.begin.value + skipped;
    const uint64_t wanted = std::min(end - begin, s.size_bytes - skipped);
    if (at >= bytes_.size()) return {};
    return bytes_.subspan(at, std::min<uint64_t>(wanted, bytes_.size() - at));
  }
  return {};
}

std::optional<std::span<const std::byte>> ElfFile::section(std::string_view name) const {
  GElf_Shdr header;
  Elf_Scn* scn = find_section(elf_.get(), name, header);
  if (scn == nullptr) return std::nullopt;
  if ((header.sh_flags & SHF_COMPRESSED) != 0 && elf_compress(scn, 0, 0) < 0) return std::nullopt;
  const Elf_Data* data = elf_rawdata(scn, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return std::nullopt;
  return std::span(static_cast<const std::byte*>(data->d_buf), data->d_size);
}

LinkAddress ElfFile::section_address(std::string_view name) const {
  GElf_Shdr header;
  return LinkAddress(find_section(elf_.get(), name, header) == nullptr ? 0 : header.sh_addr);
}

std::optional<DebugLink> ElfFile::debug_link() const {
  const auto bytes = section(".gnu_debuglink");
  GElf_Ehdr header;
  if (!bytes || gelf_getehdr(elf_.get(), &header) == nullptr) return std::nullopt;
  ByteReader in(*bytes, byte_order(header));
  DebugLink link;
  link.name = in.take_string();
  const size_t padding = align4(in.position()) - in.position();
  if (!in.take_bytes(padding)) return std::nullopt;
  const Result<uint32_t> crc = in.take<uint32_t>();
  // The name is a file's name, not a path to wherever a stranger would like us to look.
  if (!crc || link.name.empty() || link.name.find('/') != std::string::npos) return std::nullopt;
  link.crc = *crc;
  return link;
}

std::optional<AltLink> ElfFile::alt_link() const {
  const auto bytes = section(".gnu_debugaltlink");
  if (!bytes) return std::nullopt;
  ByteReader in(*bytes);
  AltLink link;
  link.path = in.take_string();
  const size_t size = in.remaining();
  if (link.path.empty() || size == 0 || size > 64) return std::nullopt;
  link.build_id = to_hex(*in.take_bytes(size));
  return link;
}

uint64_t ElfFile::debug_info_bytes() const {
  GElf_Shdr header;
  for (const char* name : {".debug_info", ".zdebug_info"})
    if (find_section(elf_.get(), name, header) != nullptr) return header.sh_size;
  return 0;
}

bool ElfFile::has_symbol_table() const {
  GElf_Shdr header;
  return find_section(elf_.get(), ".symtab", header) != nullptr;
}

bool ElfFile::has_code() const {
  for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf_.get(), scn)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(scn, &header) != nullptr && (header.sh_flags & SHF_EXECINSTR) != 0)
      return header.sh_type != SHT_NOBITS;
  }
  return true;  // no sections at all: stripped to the bone
}

}  // namespace culprit
