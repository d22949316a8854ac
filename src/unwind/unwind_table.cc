#include "unwind/unwind_table.h"

#include <algorithm>
#include <cstdlib>
#include <elfutils/libdw.h>
#include <fmt/format.h>
#include <gelf.h>
#include <unistd.h>

namespace culprit {

namespace {

// libdw reads a table from its start to the end of the segment that holds it. The largest
// programs there are have some hundred MB of read-only data.
constexpr uint64_t kLargestTableBytes = uint64_t{1} << 30;
// Call sites of a hot program: some thousand. Strangers' registers can name any address.
constexpr size_t kMostRules = 1 << 15;

}  // namespace

void UnwindTable::ElfEnd::operator()(Elf* elf) const {
  elf_end(elf);
}
void UnwindTable::DwarfEnd::operator()(Dwarf* dwarf) const {
  dwarf_end(dwarf);
}
void UnwindTable::CfiEnd::operator()(Dwarf_CFI_s* cfi) const {
  dwarf_cfi_end(cfi);
}

UnwindTable::UnwindTable(UnwindTable&&) noexcept = default;
UnwindTable& UnwindTable::operator=(UnwindTable&&) noexcept = default;
UnwindTable::~UnwindTable() = default;

Result<UnwindTable> UnwindTable::open(Fd file, const Architecture& architecture) {
  static const unsigned version = elf_version(EV_CURRENT);
  CHECK(version != EV_NONE);
  UnwindTable table;
  table.file_ = std::move(file);
  table.architecture_ = &architecture;
  table.elf_.reset(elf_begin(table.file_.get(), ELF_C_READ, nullptr));
  if (table.elf_ == nullptr || elf_kind(table.elf_.get()) != ELF_K_ELF) {
    return Error{"not an ELF file"};
  }
  GElf_Ehdr header;
  if (gelf_getehdr(table.elf_.get(), &header) == nullptr) return Error{"the ELF header is damaged"};
  if (header.e_machine != architecture.elf_machine || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return Error{fmt::format("its code is not {}", architecture.name)};
  }
  RETURN_IF_ERROR(table.read_segments());
  RETURN_IF_ERROR(table.open_tables());
  return table;
}

Result<void> UnwindTable::read_segments() {
  size_t count = 0;
  if (elf_getphdrnum(elf_.get(), &count) != 0) return Error{"the program headers are damaged"};
  std::optional<uint64_t> table_offset;
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr phdr;
    if (gelf_getphdr(elf_.get(), static_cast<int>(i), &phdr) == nullptr) continue;
    if (phdr.p_type == PT_GNU_EH_FRAME) table_offset = phdr.p_offset;
    if (phdr.p_type != PT_LOAD || phdr.p_filesz == 0) continue;
    if (phdr.p_filesz > UINT64_MAX - phdr.p_offset) continue;
    segments_.push_back({FileOffset(phdr.p_offset), phdr.p_filesz, LinkAddress(phdr.p_vaddr)});
  }
  for (const Segment& segment : segments_) {
    const bool has_table = table_offset && *table_offset >= segment.begin.value &&
                           *table_offset - segment.begin.value < segment.size_bytes;
    if (has_table && segment.size_bytes > kLargestTableBytes) {
      return Error{"its unwind table is too large to be one"};
    }
  }
  return {};
}

Result<void> UnwindTable::open_tables() {
  eh_frame_.reset(dwarf_getcfi_elf(elf_.get()));
  if (eh_frame_ != nullptr) return {};
  dwarf_.reset(dwarf_begin_elf(elf_.get(), DWARF_C_READ, nullptr));
  if (dwarf_ != nullptr) debug_frame_ = dwarf_getcfi(dwarf_.get());
  if (debug_frame_ != nullptr) return {};
  return Error{"it has neither .eh_frame nor .debug_frame"};
}

std::optional<LinkAddress> UnwindTable::to_link_address(FileOffset offset) const {
  for (const Segment& segment : segments_) {
    if (offset < segment.begin || offset - segment.begin >= segment.size_bytes) continue;
    return segment.address + (offset - segment.begin);
  }
  return std::nullopt;
}

const FrameRules* UnwindTable::find(LinkAddress address) {
  const auto known = rules_.find(address);
  if (known != rules_.end()) return known->second ? &*known->second : nullptr;
  if (rules_.size() >= kMostRules) rules_.clear();
  const auto at = rules_.emplace(address, read_rules(address)).first;
  return at->second ? &*at->second : nullptr;
}

std::optional<FrameRules> UnwindTable::read_rules(LinkAddress address) const {
  Dwarf_CFI* const cfi = eh_frame_ != nullptr ? eh_frame_.get() : debug_frame_;
  Dwarf_Frame* frame = nullptr;
  if (dwarf_cfi_addrframe(cfi, address.value, &frame) != 0) return std::nullopt;
  const std::unique_ptr<Dwarf_Frame, decltype(&std::free)> owner(frame, &std::free);
  return make_frame_rules(frame, *architecture_);
}

std::optional<uint64_t> UnwindTable::read_word(FileOffset offset) const {
  uint64_t word = 0;
  if (offset.value > INT64_MAX - sizeof word) return std::nullopt;
  const ssize_t got = ::pread(file_.get(), &word, sizeof word, static_cast<off_t>(offset.value));
  if (got != sizeof word) return std::nullopt;
  return word;
}

}  // namespace culprit
