#pragma once

// Internal to `binary`: the attributes of a DIE that matter for code, read in one pass
// with libdw, and the address ranges they stand for.

#include <cstdint>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <vector>

#include "binary/debug_facts.h"

namespace culprit {

/// Attributes present have a non-zero `code`.
struct CodeAttributes {
  Dwarf_Attribute low_pc{}, high_pc{}, ranges{};
  Dwarf_Attribute origin{};  // DW_AT_abstract_origin
  Dwarf_Attribute call_file{}, call_line{}, call_discriminator{};
  [[nodiscard]] bool has_code() const { return low_pc.code != 0 || ranges.code != 0; }
};

CodeAttributes read_code_attributes(Dwarf_Die* die);

/// Non-empty ranges of the DIE, appended to `ranges` (which is cleared first).
void read_ranges(Dwarf_Die* die, const CodeAttributes& attributes,
                 std::vector<AddressRange>& ranges);

uint32_t to_number(Dwarf_Attribute& attribute);

}  // namespace culprit
