#include "snapshot/kernel_code.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <map>
#include <optional>
#include <utility>

#include "base/read_at.h"
#include "binary/symbols.h"

namespace culprit {
namespace {

constexpr size_t kHeadBytes = size_t{1} << 16;              // program headers lie at the beginning
constexpr uint64_t kMostFunctionBytes = uint64_t{1} << 20;  // larger: two symbols far apart

template <class T>
std::optional<T> take_struct(std::span<const std::byte> bytes, uint64_t offset) {
  if (offset > bytes.size() || sizeof(T) > bytes.size() - offset) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace

Result<std::vector<KernelSegment>> parse_kernel_segments(std::span<const std::byte> head) {
  const auto header = take_struct<Elf64_Ehdr>(head, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_type != ET_CORE || header->e_phentsize != sizeof(Elf64_Phdr)) {
    return Error{"it is no 64-bit little-endian core file"};
  }
  const uint64_t table_bytes = uint64_t{header->e_phnum} * sizeof(Elf64_Phdr);
  if (header->e_phoff > head.size() || table_bytes > head.size() - header->e_phoff) {
    return Error{"its program headers are not where they should be"};
  }
  std::vector<KernelSegment> segments;
  for (uint64_t at = 0; at < table_bytes; at += sizeof(Elf64_Phdr)) {
    const Elf64_Phdr one = *take_struct<Elf64_Phdr>(head, header->e_phoff + at);
    const bool wraps =
        one.p_vaddr > UINT64_MAX - one.p_filesz ||
        one.p_offset > uint64_t{INT64_MAX} - std::min(one.p_filesz, uint64_t{INT64_MAX});
    if (one.p_type == PT_LOAD && one.p_filesz > 0 && !wraps) {
      segments.push_back({one.p_vaddr, one.p_filesz, one.p_offset});
    }
  }
  return segments;
}

Result<KernelMemory> KernelMemory::open(const std::string& path) {
  ASSIGN_OR_RETURN(Fd file, open_readable(path));
  std::string head(kHeadBytes, '\0');
  read_at(file.get(), head.data(), head.size(), 0);  // of a shorter file what there is
  Result<std::vector<KernelSegment>> segments =
      parse_kernel_segments(std::as_bytes(std::span(head)));
  if (!segments) return Error{path + ": " + segments.error().message};
  return KernelMemory(std::move(file), *std::move(segments));
}

std::string KernelMemory::read(uint64_t address, uint64_t size_bytes) const {
  if (size_bytes > kMostFunctionBytes) return "";
  const auto segment = std::ranges::find_if(segments_, [&](const KernelSegment& one) {
    return address >= one.address && address - one.address < one.size_bytes &&
           size_bytes <= one.size_bytes - (address - one.address);
  });
  if (segment == segments_.end()) return "";
  std::string bytes(size_bytes, '\0');
  const uint64_t offset = segment->offset + (address - segment->address);
  return read_at(file_.get(), bytes.data(), bytes.size(), offset) ? bytes : "";
}

size_t add_code_from_memory(const KernelMemory& memory, uint64_t base, ImageFacts& facts) {
  size_t added = 0;
  for (const FunctionFact& function : facts.functions) {
    const uint64_t size_bytes = function.end - function.begin;
    std::string bytes = memory.read(base + function.begin.value, size_bytes);
    if (bytes.empty()) continue;
    facts.code.push_back({function.begin, std::move(bytes)});
    ++added;
  }
  return added;
}

size_t add_code_from_vmlinux(const ElfFile& vmlinux, ImageFacts& facts) {
  const Symbols symbols = Symbols::read(vmlinux, nullptr);
  std::map<std::string_view, const Symbol*> by_name;
  for (const Symbol& symbol : symbols.all()) {
    // Names that several functions have tell nothing.
    const auto [known, is_new] = by_name.try_emplace(symbol.name, &symbol);
    if (!is_new) known->second = nullptr;
  }
  std::optional<uint64_t> base;
  size_t added = 0;
  for (const FunctionFact& function : facts.functions) {
    const auto symbol = by_name.find(facts.strings.text(function.name));
    const uint64_t size_bytes = function.end - function.begin;
    if (symbol == by_name.end() || symbol->second == nullptr || size_bytes > kMostFunctionBytes) {
      continue;
    }
    const LinkAddress begin = symbol->second->begin;
    const uint64_t distance = begin.value - function.begin.value;
    if (base.value_or(distance) != distance) continue;
    const auto bytes = vmlinux.loaded_bytes(begin, begin + size_bytes);
    if (bytes.size() != size_bytes) continue;
    base = distance;
    facts.code.push_back(
        {function.begin, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
    ++added;
  }
  return added;
}

}  // namespace culprit
