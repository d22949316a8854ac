#include "binary/symbols.h"

#include <algorithm>
#include <gelf.h>
#include <optional>
#include <tuple>

#include "binary/minidebug.h"
#include "binary/plt.h"

namespace culprit {
namespace {

struct CodeRange {
  uint64_t begin;
  uint64_t end;
};

/// Sections with code, by address. A debug file has them without bytes.
std::vector<CodeRange> find_code_sections(::Elf* elf) {
  std::vector<CodeRange> ranges;
  for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf, scn)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(scn, &header) == nullptr) continue;
    if ((header.sh_flags & SHF_ALLOC) == 0 || (header.sh_flags & SHF_EXECINSTR) == 0) continue;
    if (header.sh_size == 0 || header.sh_size > UINT64_MAX - header.sh_addr) continue;
    ranges.push_back({header.sh_addr, header.sh_addr + header.sh_size});
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const CodeRange& a, const CodeRange& b) { return a.begin < b.begin; });
  return ranges;
}

const CodeRange* find_range(const std::vector<CodeRange>& ranges, uint64_t address) {
  auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                [](uint64_t a, const CodeRange& r) { return a < r.begin; });
  if (after == ranges.begin()) return nullptr;
  --after;
  return address < after->end ? &*after : nullptr;
}

/// An entry of a symbol table that may name a function.
struct Candidate {
  uint64_t begin;
  uint64_t size;
  std::string_view name;
  uint8_t rank;  // lower is better: binding, type
  uint8_t underscores;
};

uint8_t count_leading_underscores(std::string_view name) {
  // "_Z..." and "_R..." are mangled names, not reserved ones.
  if (name.starts_with("_Z") || name.starts_with("_R")) return 0;
  const size_t first = name.find_first_not_of('_');
  return static_cast<uint8_t>(std::min<size_t>(first == std::string_view::npos ? 255 : first, 255));
}

/// Assemblers' own marks: "$x", "$d.12" (ARM mapping symbols), ".L4", nasm's "..@4.loop".
bool is_mark(std::string_view name) {
  if (name.starts_with(".L") || name.starts_with("..")) return true;
  return name.size() >= 2 && name[0] == '$' && (name.size() == 2 || name[2] == '.');
}

std::optional<Candidate> make_candidate(const GElf_Sym& symbol, const char* text,
                                        const std::vector<CodeRange>& code, bool is_arm) {
  const int type = GELF_ST_TYPE(symbol.st_info);
  if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) return std::nullopt;
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS || text == nullptr)
    return std::nullopt;
  std::string_view name(text);
  if (is_mark(name)) return std::nullopt;
  if (const size_t at = name.find('@'); at != std::string_view::npos && at > 0)
    name = name.substr(0, at);
  if (name.empty()) return std::nullopt;

  Candidate candidate{};
  candidate.begin = is_arm ? symbol.st_value & ~uint64_t{1} : symbol.st_value;
  const CodeRange* range = find_range(code, candidate.begin);
  if (range == nullptr) return std::nullopt;
  candidate.size = std::min(symbol.st_size, range->end - candidate.begin);
  candidate.name = name;
  const bool is_local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
  candidate.rank = static_cast<uint8_t>((type == STT_NOTYPE ? 2 : 0) + (is_local ? 1 : 0));
  candidate.underscores = count_leading_underscores(name);
  return candidate;
}

void read_table(::Elf* elf, unsigned section_type, const std::vector<CodeRange>& code,
                std::vector<Candidate>& candidates) {
  GElf_Ehdr file_header;
  if (gelf_getehdr(elf, &file_header) == nullptr) return;
  for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf, scn)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(scn, &header) == nullptr || header.sh_type != section_type) continue;
    Elf_Data* data = elf_getdata(scn, nullptr);
    const size_t entry_size = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
    if (data == nullptr || entry_size == 0) continue;
    const size_t count = std::min<size_t>(data->d_size / entry_size, INT32_MAX);
    for (size_t i = 1; i < count; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
      if (symbol.st_shndx == SHN_UNDEF) continue;
      const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
      if (auto c = make_candidate(symbol, name, code, file_header.e_machine == EM_ARM))
        candidates.push_back(*c);
    }
  }
}

/// Best name first among those of one address.
bool comes_before(const Candidate& a, const Candidate& b) {
  if (a.begin != b.begin) return a.begin < b.begin;
  const auto key = [](const Candidate& c) {
    return std::tuple(c.size == 0, c.rank, c.underscores, c.name.size(), c.name);
  };
  return key(a) < key(b);
}

/// One candidate for each address: the best name, with the largest size of all aliases.
void resolve_aliases(std::vector<Candidate>& candidates) {
  std::sort(candidates.begin(), candidates.end(), comes_before);
  size_t kept = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (kept > 0 && candidates[kept - 1].begin == candidates[i].begin)
      candidates[kept - 1].size = std::max(candidates[kept - 1].size, candidates[i].size);
    else
      candidates[kept++] = candidates[i];
  }
  candidates.resize(kept);
}

/// Candidates with distinct, ascending begins -> ranges without overlap.
class Partition {
 public:
  explicit Partition(std::vector<Symbol>& out) : out_(out) {}

  void add(uint64_t begin, uint64_t end, std::string_view name) {
    close_up_to(begin);
    if (!open_.empty()) {
      emit(open_.back(), begin);
      end = std::min(end, open_.front().end);  // an overhang belongs to neither
    }
    open_.push_back({begin, end, name});
  }
  void finish() { close_up_to(UINT64_MAX); }
  [[nodiscard]] bool inside(uint64_t address) const {
    return !open_.empty() && address < open_.front().end;
  }

 private:
  struct Open {
    uint64_t next;  // first address not emitted yet
    uint64_t end;
    std::string_view name;
  };

  void emit(Open& function, uint64_t until) {
    until = std::min(until, function.end);
    if (until > function.next)
      out_.push_back({LinkAddress(function.next), LinkAddress(until), function.name});
    function.next = std::max(function.next, until);
  }
  void close_up_to(uint64_t address) {
    while (!open_.empty() && open_.back().end <= address) {
      const uint64_t end = open_.back().end;
      emit(open_.back(), end);
      open_.pop_back();
      if (!open_.empty()) open_.back().next = std::max(open_.back().next, end);
    }
  }

  std::vector<Symbol>& out_;
  std::vector<Open> open_;  // nested functions, outermost first
};

std::vector<Symbol> partition(std::vector<Candidate> candidates,
                              const std::vector<CodeRange>& code) {
  resolve_aliases(candidates);
  std::vector<Symbol> symbols;
  symbols.reserve(candidates.size());
  Partition ranges(symbols);
  uint64_t covered_until = 0;  // by sized functions
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& c = candidates[i];
    uint64_t end = c.begin + c.size;
    if (c.size == 0) {
      if (c.begin < covered_until) continue;
      end = find_range(code, c.begin)->end;
      if (i + 1 < candidates.size()) end = std::min(end, candidates[i + 1].begin);
    }
    covered_until = std::max(covered_until, end);
    ranges.add(c.begin, end, c.name);
  }
  ranges.finish();
  std::stable_sort(symbols.begin(), symbols.end(),
                   [](const Symbol& a, const Symbol& b) { return a.begin < b.begin; });
  return symbols;
}

}  // namespace

Symbols Symbols::read(const ElfFile& image, const ElfFile* debug_file) {
  Symbols result;
  const std::vector<CodeRange> code = find_code_sections(image.handle());
  std::vector<Candidate> candidates;
  const auto try_table = [&](const ElfFile& file, unsigned type, SymbolTableKind kind) {
    const size_t before = candidates.size();
    read_table(file.handle(), type, code, candidates);
    if (candidates.size() > before && result.kind_ < kind) result.kind_ = kind;
  };
  try_table(image, SHT_SYMTAB, SymbolTableKind::symtab);
  if (candidates.empty() && debug_file != nullptr)
    try_table(*debug_file, SHT_SYMTAB, SymbolTableKind::symtab);
  if (candidates.empty()) {
    try_table(image, SHT_DYNSYM, SymbolTableKind::dynsym);
    if (const auto section = image.section(".gnu_debugdata")) {
      if (auto bytes = parse_minidebug(*section)) {
        result.minidebug_bytes_ = *std::move(bytes);
        if (auto elf = ElfFile::open(result.minidebug_bytes_)) {
          result.minidebug_ = std::make_unique<ElfFile>(*std::move(elf));
          try_table(*result.minidebug_, SHT_SYMTAB, SymbolTableKind::minidebug);
        }
      }
    }
  }
  for (PltStub& stub : find_plt_stubs(image)) {
    result.stub_names_.push_back(std::move(stub.name));
    candidates.push_back({stub.begin.value, stub.size_bytes, result.stub_names_.back(), 3, 0});
  }
  result.symbols_ = partition(std::move(candidates), code);
  return result;
}

const Symbol* Symbols::find(LinkAddress address) const {
  auto after = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                [](LinkAddress a, const Symbol& s) { return a < s.begin; });
  if (after == symbols_.begin()) return nullptr;
  --after;
  return address < after->end ? &*after : nullptr;
}

}  // namespace culprit
