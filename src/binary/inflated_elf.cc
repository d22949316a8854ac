#include "binary/inflated_elf.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/Compression.h>
#include <llvm/Support/Error.h>
#include <string_view>
#include <sys/mman.h>

#include "base/heap.h"

namespace culprit {
namespace {

// This number means zstd; the elf.h of Debian 12 does not have its name yet.
constexpr uint32_t kCompressedByZstd = 2;

constexpr std::string_view kNeverRead[] = {
    ".debug_loclists",     ".debug_loc",          ".debug_macro",
    ".debug_macinfo",      ".debug_pubnames",     ".debug_pubtypes",
    ".debug_gnu_pubnames", ".debug_gnu_pubtypes", ".debug_names"};

template <class T>
T read_at(std::span<const std::byte> bytes, uint64_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

bool fits(std::span<const std::byte> bytes, uint64_t at, uint64_t size) {
  return at <= bytes.size() && size <= bytes.size() - at;
}

/// The section headers' place, if the file is one that we read.
std::optional<Elf64_Ehdr> read_header(std::span<const std::byte> file) {
  if (file.size() < sizeof(Elf64_Ehdr)) return std::nullopt;
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  const bool is_ours = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                       header.e_ident[EI_CLASS] == ELFCLASS64 &&
                       header.e_ident[EI_DATA] == ELFDATA2LSB &&
                       header.e_shentsize == sizeof(Elf64_Shdr) && header.e_shnum != 0;
  if (!is_ours || !fits(file, header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr)) ||
      header.e_shstrndx >= header.e_shnum)
    return std::nullopt;
  return header;
}

std::string_view read_name(std::span<const std::byte> file, const Elf64_Shdr& names, uint32_t at) {
  if (!fits(file, names.sh_offset, names.sh_size) || at >= names.sh_size) return "";
  const char* text = reinterpret_cast<const char*>(file.data() + names.sh_offset + at);
  return {text, ::strnlen(text, names.sh_size - at)};
}

bool inflate(uint32_t method, std::span<const std::byte> from, std::span<std::byte> to) {
  const llvm::ArrayRef<uint8_t> input(reinterpret_cast<const uint8_t*>(from.data()), from.size());
  auto* output = reinterpret_cast<uint8_t*>(to.data());
  size_t size_bytes = to.size();
  const bool is_zstd = method == kCompressedByZstd;
  if (is_zstd ? !llvm::compression::zstd::isAvailable() : !llvm::compression::zlib::isAvailable())
    return false;
  llvm::Error error = is_zstd ? llvm::compression::zstd::decompress(input, output, size_bytes)
                              : llvm::compression::zlib::decompress(input, output, size_bytes);
  const bool failed = static_cast<bool>(error);
  llvm::consumeError(std::move(error));
  return !failed && size_bytes == to.size();
}

void make_empty(Elf64_Shdr& section) {
  section.sh_type = SHT_NOBITS;
  section.sh_flags &= ~static_cast<uint64_t>(SHF_COMPRESSED);
}

uint64_t align16(uint64_t at) {
  return (at + 15) & ~uint64_t{15};
}

}  // namespace

std::optional<InflatedElf> InflatedElf::plan(const ElfFile& file) {
  const std::span<const std::byte> bytes = file.bytes();
  const std::optional<Elf64_Ehdr> header = read_header(bytes);
  if (!header) return std::nullopt;
  std::vector<Elf64_Shdr> sections(header->e_shnum);
  std::memcpy(sections.data(), bytes.data() + header->e_shoff,
              sections.size() * sizeof(Elf64_Shdr));

  InflatedElf result;
  const uint64_t most_bytes = limit_inflated_bytes(bytes.size());
  uint64_t end = align16(bytes.size());
  std::vector<std::pair<uint64_t, uint64_t>> holes;  // compressed bytes: not copied
  for (size_t i = 0; i < sections.size(); ++i) {
    Elf64_Shdr& section = sections[i];
    if ((section.sh_flags & SHF_COMPRESSED) == 0 || section.sh_type == SHT_NOBITS) continue;
    if (section.sh_size < sizeof(Elf64_Chdr) || !fits(bytes, section.sh_offset, section.sh_size))
      continue;
    const auto compression = read_at<Elf64_Chdr>(bytes, section.sh_offset);
    if (compression.ch_type != ELFCOMPRESS_ZLIB && compression.ch_type != kCompressedByZstd)
      continue;
    if (compression.ch_size > most_bytes - std::min(most_bytes, end)) return std::nullopt;
    holes.emplace_back(section.sh_offset, section.sh_offset + section.sh_size);
    const std::string_view name = read_name(bytes, sections[header->e_shstrndx], section.sh_name);
    if (std::ranges::find(kNeverRead, name) != std::end(kNeverRead)) {
      make_empty(section);
      continue;
    }
    result.jobs_.push_back({bytes.subspan(section.sh_offset + sizeof compression,
                                          section.sh_size - sizeof compression),
                            compression.ch_type, header->e_shoff + i * sizeof(Elf64_Shdr), end,
                            compression.ch_size});
    section.sh_flags &= ~static_cast<uint64_t>(SHF_COMPRESSED);
    section.sh_offset = end;
    section.sh_size = compression.ch_size;
    section.sh_addralign = compression.ch_addralign;
    end = align16(end + compression.ch_size);
  }
  if (holes.empty()) return std::nullopt;

  result.size_bytes_ = end;
  void* const pages = ::mmap(nullptr, end, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return std::nullopt;
  result.buffer_ = {static_cast<std::byte*>(pages), Unmap{end}};
  ask_for_large_pages({result.buffer_.get(), end});
  std::sort(holes.begin(), holes.end());
  holes.emplace_back(bytes.size(), bytes.size());
  uint64_t copied = 0;
  for (const auto& [begin, after] : holes) {
    if (begin > copied)
      std::memcpy(result.buffer_.get() + copied, bytes.data() + copied, begin - copied);
    copied = std::max(copied, after);
  }
  std::memcpy(result.buffer_.get() + header->e_shoff, sections.data(),
              sections.size() * sizeof(Elf64_Shdr));
  std::sort(result.jobs_.begin(), result.jobs_.end(),
            [](const Job& a, const Job& b) { return a.compressed.size() > b.compressed.size(); });
  return result;
}

void InflatedElf::run(size_t job) {
  const Job& section = jobs_[job];
  if (inflate(section.method, section.compressed,
              {buffer_.get() + section.inflated_at, section.inflated_bytes}))
    return;
  std::byte* at = buffer_.get() + section.header_at;
  auto header = read_at<Elf64_Shdr>({at, sizeof(Elf64_Shdr)}, 0);
  make_empty(header);
  std::memcpy(at, &header, sizeof header);
}

}  // namespace culprit
