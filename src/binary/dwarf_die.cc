#include "binary/dwarf_die.h"

namespace culprit {
namespace {

constexpr unsigned kDiscriminator = 0x2136;  // DW_AT_GNU_discriminator, which dwarf.h lacks
constexpr size_t kMaxRanges = 1 << 20;       // of one DIE; a guard against lists that never end

int collect_attribute(Dwarf_Attribute* attribute, void* target) {
  auto& wanted = *static_cast<CodeAttributes*>(target);
  switch (dwarf_whatattr(attribute)) {
    case DW_AT_low_pc:
      wanted.low_pc = *attribute;
      break;
    case DW_AT_high_pc:
      wanted.high_pc = *attribute;
      break;
    case DW_AT_ranges:
      wanted.ranges = *attribute;
      break;
    case DW_AT_abstract_origin:
      wanted.origin = *attribute;
      break;
    case DW_AT_call_file:
      wanted.call_file = *attribute;
      break;
    case DW_AT_call_line:
      wanted.call_line = *attribute;
      break;
    case kDiscriminator:
      wanted.call_discriminator = *attribute;
      break;
    default:
      break;
  }
  return DWARF_CB_OK;
}

}  // namespace

CodeAttributes read_code_attributes(Dwarf_Die* die) {
  CodeAttributes attributes;
  dwarf_getattrs(die, collect_attribute, &attributes, 0);
  return attributes;
}

void read_ranges(Dwarf_Die* die, const CodeAttributes& attributes,
                 std::vector<AddressRange>& ranges) {
  ranges.clear();
  if (attributes.ranges.code != 0) {
    Dwarf_Addr base = 0;
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    ptrdiff_t at = 0;
    while (ranges.size() < kMaxRanges && (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0)
      if (begin < end) ranges.push_back({LinkAddress(begin), LinkAddress(end)});
    return;
  }
  Dwarf_Attribute low_pc = attributes.low_pc;
  Dwarf_Attribute high_pc = attributes.high_pc;
  Dwarf_Addr low = 0;
  Dwarf_Addr high = 0;
  if (low_pc.code == 0 || high_pc.code == 0 || dwarf_formaddr(&low_pc, &low) != 0) return;
  if (dwarf_formaddr(&high_pc, &high) != 0) {  // a constant: relative to low_pc
    Dwarf_Word size = 0;
    if (dwarf_formudata(&high_pc, &size) != 0 || size > UINT64_MAX - low) return;
    high = low + size;
  }
  if (low < high) ranges.push_back({LinkAddress(low), LinkAddress(high)});
}

uint32_t to_number(Dwarf_Attribute& attribute) {
  Dwarf_Word value = 0;
  if (attribute.code == 0 || dwarf_formudata(&attribute, &value) != 0 || value > UINT32_MAX)
    return 0;
  return static_cast<uint32_t>(value);
}

}  // namespace culprit
