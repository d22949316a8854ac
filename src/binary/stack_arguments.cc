#include "binary/stack_arguments.h"

#include <cstdlib>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <memory>

#include "binary/type_layout.h"

namespace culprit {
namespace {

/// Larger ones have no place in registers.
constexpr uint64_t kInRegisters = 16;

struct CloseDwarf {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};

/// C++ hands on the address of what has a copy constructor or destructor of its own.
bool is_by_reference(Dwarf_Die* type) {
  Dwarf_Attribute attribute;
  Dwarf_Word convention = 0;
  return dwarf_attr(type, DW_AT_calling_convention, &attribute) != nullptr &&
         dwarf_formudata(&attribute, &convention) == 0 && convention == DW_CC_pass_by_reference;
}

uint64_t add_up_parameters(Dwarf_Die* function) {
  uint64_t bytes = 0;
  Dwarf_Die child;
  for (int status = dwarf_child(function, &child); status == 0;
       status = dwarf_siblingof(&child, &child)) {
    Dwarf_Die type;
    Dwarf_Die peeled;
    Dwarf_Word size = 0;
    const bool is_struct_by_value = dwarf_tag(&child) == DW_TAG_formal_parameter &&
                                    find_type(&child, &type) && peel_type(&type, &peeled) &&
                                    is_struct(&peeled) && !is_by_reference(&peeled) &&
                                    dwarf_aggregate_size(&peeled, &size) == 0;
    if (is_struct_by_value && size > kInRegisters) bytes += (size + 7) / 8 * 8;
  }
  return bytes;
}

}  // namespace

std::optional<uint64_t> find_stack_arguments(const ElfFile& file, LinkAddress function) {
  const std::unique_ptr<Dwarf, CloseDwarf> dwarf(
      dwarf_begin_elf(file.handle(), DWARF_C_READ, nullptr));
  if (!dwarf) return std::nullopt;
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  while (dwarf_get_units(dwarf.get(), unit, &unit, nullptr, nullptr, &die, nullptr) == 0) {
    if (dwarf_haspc(&die, function.value) != 1) continue;
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes(&die, function.value, &scopes);
    const std::unique_ptr<Dwarf_Die, decltype(&std::free)> owned(scopes, &std::free);
    for (int i = 0; i < count; ++i) {
      if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram) return add_up_parameters(&scopes[i]);
    }
  }
  return std::nullopt;
}

}  // namespace culprit
