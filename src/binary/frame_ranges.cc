#include "binary/frame_ranges.h"

#include <algorithm>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/bytes.h"

namespace culprit {
namespace {

/// How pointers are written in the tables that refer to one CIE (DW_EH_PE_*).
struct PointerFormat {
  uint8_t encoding = DW_EH_PE_absptr;
  bool is_wide = true;  // the file's own addresses have 8 bytes
  std::endian order = std::endian::little;
};

template <class T>
std::optional<uint64_t> take_as_64(ByteReader& in) {
  const Result<T> value = in.take<T>();
  if (!value) return std::nullopt;
  return static_cast<uint64_t>(*value);  // signed ones are extended
}

std::optional<uint64_t> take_value(ByteReader& in, const PointerFormat& format) {
  switch (format.encoding & 0x0f) {
    case DW_EH_PE_absptr:
      return format.is_wide ? take_as_64<uint64_t>(in) : take_as_64<uint32_t>(in);
    case DW_EH_PE_udata2:
      return take_as_64<uint16_t>(in);
    case DW_EH_PE_sdata2:
      return take_as_64<int16_t>(in);
    case DW_EH_PE_udata4:
      return take_as_64<uint32_t>(in);
    case DW_EH_PE_sdata4:
      return take_as_64<int32_t>(in);
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
      return take_as_64<uint64_t>(in);
    default:
      return std::nullopt;  // LEB128: no compiler writes it here
  }
}

/// The encoding of addresses, from an augmentation like "zPLR".
std::optional<uint8_t> find_encoding(const Dwarf_CIE& cie, const PointerFormat& format) {
  const std::string_view letters = cie.augmentation;
  if (!letters.starts_with('z')) return DW_EH_PE_absptr;
  ByteReader in(std::as_bytes(std::span(cie.augmentation_data, cie.augmentation_data_size)));
  for (const char letter : letters.substr(1)) {
    if (letter == 'S' || letter == 'B') continue;  // signal frame, ARM's pointer key: no data
    const Result<uint8_t> encoding = in.take<uint8_t>();
    if (!encoding) return std::nullopt;
    if (letter == 'R') return *encoding;
    if (letter == 'P') {
      if (!take_value(in, {*encoding, format.is_wide, format.order})) return std::nullopt;
    } else if (letter != 'L') {
      return std::nullopt;
    }
  }
  return DW_EH_PE_absptr;
}

/// One section of call frame information.
class FrameTable {
 public:
  FrameTable(const ElfFile& file, std::span<const std::byte> bytes, LinkAddress address, bool is_eh)
      : bytes_(bytes), address_(address), is_eh_(is_eh) {
    size_t size = 0;
    const char* ident = elf_getident(file.handle(), &size);
    ident_ = reinterpret_cast<const unsigned char*>(ident);
    data_.d_buf = const_cast<std::byte*>(bytes.data());
    data_.d_size = bytes.size();
    data_.d_version = EV_CURRENT;
    format_.is_wide = ident[EI_CLASS] == ELFCLASS64;
    format_.order = ident[EI_DATA] == ELFDATA2MSB ? std::endian::big : std::endian::little;
  }

  std::vector<AddressRange> read() {
    std::vector<AddressRange> ranges;
    Dwarf_Off next = 0;
    for (Dwarf_Off at = 0;; at = next) {
      Dwarf_CFI_Entry entry;
      const int status = dwarf_next_cfi(ident_, &data_, is_eh_, at, &next, &entry);
      if (status > 0 || next <= at || next == static_cast<Dwarf_Off>(-1)) return ranges;
      if (status < 0 || dwarf_cfi_cie_p(&entry)) continue;
      if (const auto range = read_range(entry.fde)) ranges.push_back(*range);
    }
  }

 private:
  std::optional<AddressRange> read_range(const Dwarf_FDE& fde) {
    const std::optional<uint8_t> encoding = encoding_of(fde.CIE_pointer);
    if (!encoding || (*encoding & DW_EH_PE_indirect) != 0) return std::nullopt;
    PointerFormat format = format_;
    format.encoding = *encoding;
    ByteReader in(std::as_bytes(std::span(fde.start, fde.end)), format_.order);
    std::optional<uint64_t> begin = take_value(in, format);
    format.encoding &= 0x07;  // sizes are unsigned
    const std::optional<uint64_t> size_bytes = take_value(in, format);
    if (!begin || !size_bytes) return std::nullopt;
    const int relation = *encoding & 0x70;
    if (relation == DW_EH_PE_pcrel)
      *begin += address_.value + static_cast<uint64_t>(
                                     reinterpret_cast<const std::byte*>(fde.start) - bytes_.data());
    else if (relation != DW_EH_PE_absptr)
      return std::nullopt;
    if (!format_.is_wide) *begin = static_cast<uint32_t>(*begin);
    // 0: what the linker made of the table of a function that it left out.
    if (*begin == 0 || *size_bytes == 0 || *size_bytes > UINT64_MAX - *begin) return std::nullopt;
    return AddressRange{LinkAddress(*begin), LinkAddress(*begin + *size_bytes)};
  }

  std::optional<uint8_t> encoding_of(Dwarf_Off cie_offset) {
    const auto [entry, is_new] = encodings_.try_emplace(cie_offset);
    Dwarf_CFI_Entry cie;
    Dwarf_Off next = 0;
    if (is_new && dwarf_next_cfi(ident_, &data_, is_eh_, cie_offset, &next, &cie) == 0 &&
        dwarf_cfi_cie_p(&cie))
      entry->second = find_encoding(cie.cie, format_);
    return entry->second;
  }

  std::span<const std::byte> bytes_;
  LinkAddress address_;
  bool is_eh_;
  const unsigned char* ident_ = nullptr;
  Elf_Data data_{};
  PointerFormat format_;
  std::unordered_map<Dwarf_Off, std::optional<uint8_t>> encodings_;  // by the CIE's offset
};

/// Sorts; where two overlap, the first one ends where the second begins.
void remove_overlaps(std::vector<AddressRange>& ranges) {
  // Each object file's come in order, one file after the other: merging them is quicker.
  std::stable_sort(ranges.begin(), ranges.end(), [](const AddressRange& a, const AddressRange& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  size_t kept = 0;
  for (const AddressRange& range : ranges) {
    if (kept > 0 && ranges[kept - 1].begin == range.begin) {
      ranges[kept - 1].end = range.end;
      continue;
    }
    if (kept > 0) ranges[kept - 1].end = std::min(ranges[kept - 1].end, range.begin);
    ranges[kept++] = range;
  }
  ranges.resize(kept);
}

}  // namespace

std::vector<AddressRange> read_frame_ranges(const ElfFile& file) {
  std::vector<AddressRange> ranges;
  if (file.kind() == ElfKind::relocatable) return ranges;  // its addresses are not filled in
  for (const char* name : {".eh_frame", ".debug_frame"}) {
    const auto bytes = file.section(name);
    if (!bytes) continue;
    const bool is_eh = std::string_view(name) == ".eh_frame";
    FrameTable table(file, *bytes, file.section_address(name), is_eh);
    const std::vector<AddressRange> more = table.read();
    ranges.insert(ranges.end(), more.begin(), more.end());
  }
  remove_overlaps(ranges);
  return ranges;
}

}  // namespace culprit
