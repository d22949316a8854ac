#include "simulate/objects/elf_objects.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <optional>
#include <tuple>

namespace culprit::objects {
namespace {

/// No honest file has more of either; what is beyond is left out.
constexpr size_t kMostSymbols = 1 << 22;
constexpr size_t kMostSections = 1 << 16;

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::span<const OwnAllocator> own)
      : bytes_(bytes), own_(own) {}

  Result<ElfObjects> read();

 private:
  template <class T>
  bool take(uint64_t offset, T* value) const {
    if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset) return false;
    std::memcpy(value, bytes_.data() + offset, sizeof(T));
    return true;
  }
  [[nodiscard]] std::string_view text(const Elf64_Shdr& strings, uint64_t at) const;
  bool read_loads();
  [[nodiscard]] bool is_program(const Elf64_Phdr& dynamic) const;
  void place_thread_block(const Elf64_Phdr& block);
  void read_functions(const Elf64_Phdr& segment);
  bool read_sections();
  void add_section(const Elf64_Shdr& section);
  void read_symbols(const Elf64_Shdr& section);
  void add_symbol(const Elf64_Sym& symbol, std::string_view name);
  void add_construct_edge(const Elf64_Sym& symbol, std::string_view name);
  static void sort(std::vector<ElfVariable>& all);
  void sort();

  std::span<const std::byte> bytes_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> headers_;
  ElfObjects result_;
  std::span<const OwnAllocator> own_;
  bool has_table_of_functions_ = false;
  bool has_thread_block_ = false;
};

std::string_view Reader::text(const Elf64_Shdr& strings, uint64_t at) const {
  if (at >= strings.sh_size || strings.sh_offset > bytes_.size()) return {};
  const uint64_t size = std::min<uint64_t>(strings.sh_size, bytes_.size() - strings.sh_offset);
  if (at >= size) return {};
  const auto* const begin = reinterpret_cast<const char*>(bytes_.data()) + strings.sh_offset + at;
  return {begin, ::strnlen(begin, size - at)};
}

bool Reader::read_loads() {
  if (header_.e_phnum != 0 && header_.e_phentsize != sizeof(Elf64_Phdr)) return false;
  std::optional<Elf64_Phdr> thread_block;
  has_thread_block_ = header_.e_type == ET_EXEC;
  for (unsigned i = 0; i < header_.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!take(header_.e_phoff + i * sizeof segment, &segment)) return false;
    if (segment.p_type == PT_GNU_EH_FRAME) read_functions(segment);
    if (segment.p_type == PT_TLS) thread_block = segment;
    if (segment.p_type == PT_DYNAMIC && is_program(segment)) has_thread_block_ = true;
    if (segment.p_type != PT_LOAD) continue;
    result_.loads.push_back({segment.p_offset, segment.p_vaddr, segment.p_filesz, segment.p_memsz,
                             (segment.p_flags & PF_X) != 0});
  }
  has_thread_block_ = has_thread_block_ && thread_block;
  if (has_thread_block_) place_thread_block(*thread_block);
  return true;
}

/// A program that may be loaded anywhere is a library to the ELF header.
bool Reader::is_program(const Elf64_Phdr& dynamic) const {
  constexpr uint64_t kMostEntries = 1 << 12;
  Elf64_Dyn entry;
  for (uint64_t i = 0; i < kMostEntries && i < dynamic.p_filesz / sizeof entry; ++i) {
    if (!take(dynamic.p_offset + i * sizeof entry, &entry)) return false;
    if (entry.d_tag == DT_FLAGS_1) return (entry.d_un.d_val & DF_1_PIE) != 0;
    if (entry.d_tag == DT_NULL) return false;
  }
  return false;
}

/// The program's block is the first beside the thread pointer: below it on x86-64, behind two words
/// of the C library's on aarch64.
/// Source: U. Drepper, ELF Handling For Thread-Local Storage, section 3
void Reader::place_thread_block(const Elf64_Phdr& block) {
  const uint64_t align = std::max<uint64_t>(block.p_align, 1);
  const uint64_t beyond = block.p_vaddr % align;  // of a multiple of the alignment
  const auto round_up = [&](uint64_t bytes) { return (bytes + align - 1) / align * align; };
  uint64_t begin = 0;
  if (header_.e_machine == EM_AARCH64) {
    constexpr uint64_t kWords = 16;
    begin = round_up(kWords - std::min(kWords, beyond)) + beyond;
  } else {
    begin = 0 - (round_up(block.p_memsz + beyond) - beyond);
  }
  result_.thread_block.begin = static_cast<int64_t>(begin);
}

/// The table that the unwinder searches, in the one form in which linkers write it: pairs of a
/// function's beginning and its rules, as 32 bits from the segment's beginning on.
/// Source: Linux Standard Base Core Specification, ".eh_frame_hdr"
void Reader::read_functions(const Elf64_Phdr& segment) {
  struct Head {
    uint8_t version;
    uint8_t frames_encoding;
    uint8_t count_encoding;
    uint8_t table_encoding;
    int32_t frames;
    uint32_t count;
  };
  struct Row {
    int32_t begin;
    int32_t rules;
  };
  constexpr uint8_t kSigned32FromHere = 0x1b;  // DW_EH_PE_pcrel | DW_EH_PE_sdata4
  constexpr uint8_t kUnsigned32 = 0x03;
  constexpr uint8_t kSigned32FromSegment = 0x3b;
  Head head{};
  if (!take(segment.p_offset, &head) || head.version != 1 ||
      head.frames_encoding != kSigned32FromHere || head.count_encoding != kUnsigned32 ||
      head.table_encoding != kSigned32FromSegment) {
    return;
  }
  const uint64_t count = std::min<uint64_t>(head.count, kMostSymbols);
  for (uint64_t i = 0; i < count; ++i) {
    Row row{};
    if (!take(segment.p_offset + sizeof head + i * sizeof row, &row)) break;
    result_.functions.push_back(segment.p_vaddr + static_cast<uint64_t>(int64_t{row.begin}));
  }
  has_table_of_functions_ = true;
}

bool Reader::read_sections() {
  if (header_.e_shoff == 0) return true;  // stripped of them: nothing to tell
  if (header_.e_shentsize != sizeof(Elf64_Shdr)) return false;
  const size_t count = std::min<size_t>(header_.e_shnum, kMostSections);
  headers_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    if (!take(header_.e_shoff + i * sizeof headers_[i], &headers_[i])) return false;
  }
  return true;
}

void Reader::add_section(const Elf64_Shdr& section) {
  // No function reaches into another section: _fini may be in no table, and is not the last one's.
  constexpr uint64_t kCode = SHF_ALLOC | SHF_EXECINSTR;
  if ((section.sh_flags & kCode) == kCode) result_.functions.push_back(section.sh_addr);
  const bool holds_data = (section.sh_flags & SHF_ALLOC) != 0 &&
                          (section.sh_flags & (SHF_EXECINSTR | SHF_TLS)) == 0 &&
                          section.sh_size != 0;
  if (!holds_data || header_.e_shstrndx >= headers_.size()) return;
  result_.sections.push_back({std::string(text(headers_[header_.e_shstrndx], section.sh_name)),
                              section.sh_addr, section.sh_size});
}

void Reader::add_symbol(const Elf64_Sym& symbol, std::string_view name) {
  if (symbol.st_shndx == SHN_UNDEF || name.empty()) return;
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  if ((type == STT_OBJECT || type == STT_COMMON) && symbol.st_size != 0) {
    result_.variables.push_back({std::string(name), symbol.st_value, symbol.st_size});
  }
  if (type == STT_TLS && symbol.st_size != 0 && has_thread_block_) {
    result_.thread_block.variables.push_back({std::string(name), symbol.st_value, symbol.st_size});
  }
  if (type != STT_FUNC) return;
  if (!has_table_of_functions_) result_.functions.push_back(symbol.st_value);
  add_construct_edge(symbol, name);
  if (const auto mark = find_range_mark(name)) {
    result_.allocators.push_back({std::string(name), symbol.st_value, *mark});
  }
  // A static function may have such a name and mean something else.
  for (const OwnAllocator& one : own_) {
    if (one.symbol == name) {
      result_.allocators.push_back({std::string(name), symbol.st_value, one.what});
      return;
    }
  }
  if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) return;
  if (const auto allocator = find_allocator(name)) {
    result_.allocators.push_back({std::string(name), symbol.st_value, *allocator});
  }
}

/// Compilers make functions of the bodies of constructs, with such names: GCC main._omp_fn.0, clang
/// main.omp_outlined.
void Reader::add_construct_edge(const Elf64_Sym& symbol, std::string_view name) {
  const bool is_body = name.find("._omp_fn.") != std::string_view::npos ||
                       name.find("omp_outlined") != std::string_view::npos ||
                       name.find(".omp_task_entry.") != std::string_view::npos;
  if (is_body) {
    result_.construct_edges.push_back({symbol.st_value, {}});
  } else if (const auto call = openmp::find_runtime_call(name)) {
    result_.construct_edges.push_back({symbol.st_value, *call});
  }
}

void Reader::read_symbols(const Elf64_Shdr& section) {
  if (section.sh_entsize != sizeof(Elf64_Sym) || section.sh_link >= headers_.size()) return;
  const Elf64_Shdr& strings = headers_[section.sh_link];
  const uint64_t count = std::min<uint64_t>(section.sh_size / sizeof(Elf64_Sym), kMostSymbols);
  for (uint64_t i = 0; i < count; ++i) {
    Elf64_Sym symbol;
    if (!take(section.sh_offset + i * sizeof symbol, &symbol)) return;
    add_symbol(symbol, text(strings, symbol.st_name));
  }
}

/// One place may have several names. A global one without underscores would be the best; the
/// shortest is about that.
void Reader::sort(std::vector<ElfVariable>& all) {
  const auto key = [](const ElfVariable& one) {
    return std::tuple(one.address, ~one.size_bytes, one.name.size(), std::string_view(one.name));
  };
  std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  const auto same_place = [](const ElfVariable& a, const ElfVariable& b) {
    return a.address == b.address && a.size_bytes == b.size_bytes;
  };
  all.erase(std::unique(all.begin(), all.end(), same_place), all.end());
}

void Reader::sort() {
  sort(result_.variables);
  sort(result_.thread_block.variables);
  std::vector<uint64_t>& functions = result_.functions;
  std::sort(functions.begin(), functions.end());
  functions.erase(std::unique(functions.begin(), functions.end()), functions.end());
}

Result<ElfObjects> Reader::read() {
  const bool is_elf = take(0, &header_) && std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 &&
                      header_.e_ident[EI_CLASS] == ELFCLASS64 &&
                      header_.e_ident[EI_DATA] == ELFDATA2LSB;
  if (!is_elf) return Error{"no 64-bit ELF file"};
  if (!read_loads() || !read_sections()) return Error{"an ELF file whose tables are damaged"};
  for (const Elf64_Shdr& section : headers_) add_section(section);
  for (const Elf64_Shdr& section : headers_) {
    if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM) read_symbols(section);
  }
  sort();
  return std::move(result_);
}

}  // namespace

uint64_t ElfObjects::offset_of(uint64_t address) const {
  for (const ElfLoad& load : loads) {
    if (address >= load.address && address - load.address < load.memory_bytes) {
      return address - load.address + load.offset;
    }
  }
  return address;
}

std::optional<uint64_t> ElfObjects::find_bias(uint64_t start, uint64_t end,
                                              uint64_t file_offset) const {
  const uint64_t file_end = file_offset + (end - start);
  for (const ElfLoad& load : loads) {
    const bool is_there = file_offset < load.offset + load.file_bytes && load.offset < file_end;
    if (!load.is_code || !is_there) continue;
    return start - file_offset + load.offset - load.address;
  }
  return std::nullopt;
}

Result<ElfObjects> parse_elf_objects(std::span<const std::byte> bytes,
                                     std::span<const OwnAllocator> own) {
  return Reader(bytes, own).read();
}

}  // namespace culprit::objects
