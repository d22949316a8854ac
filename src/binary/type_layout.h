#pragma once

// Internal to `binary`: DIEs of types -> layouts.

#include <elfutils/libdw.h>
#include <optional>
#include <string>

#include "binary/debug_types.h"

namespace culprit {

/// The type that the DIE's DW_AT_type names. False: none.
bool find_type(Dwarf_Die* die, Dwarf_Die* type);
/// Takes typedefs, const and their like off a type. False: damaged.
bool peel_type(Dwarf_Die* type, Dwarf_Die* peeled);
/// The type of an array's elements; any other type is its own. False: damaged.
bool find_element_type(Dwarf_Die* type, Dwarf_Die* element);

bool is_struct(Dwarf_Die* type);
bool is_pointer(Dwarf_Die* type);
const char* find_name(Dwarf_Die* die);

/// nullopt: a type without a size, or damaged.
std::optional<TypeLayout> read_layout(Dwarf_Die* type);

/// The member of the struct, those of its bases and unnamed members too. False: none.
bool find_member(Dwarf_Die* type, std::string_view name, Dwarf_Die* member, int depth = 0);

}  // namespace culprit
