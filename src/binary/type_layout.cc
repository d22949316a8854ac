#include "binary/type_layout.h"

#include <algorithm>
#include <dwarf.h>

namespace culprit {
namespace {

constexpr int kDeepestType = 16;       // structs in structs; damaged ones may go on for ever
constexpr size_t kMostMembers = 4096;  // of one type, those of nested ones included
constexpr uint64_t kMostElements = 64;

uint64_t attribute_value(Dwarf_Die* die, unsigned name, uint64_t otherwise) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr(die, name, &attribute) == nullptr) return otherwise;
  return dwarf_formudata(&attribute, &value) == 0 ? value : otherwise;
}

std::optional<uint64_t> size_of(Dwarf_Die* type) {
  Dwarf_Word size = 0;
  if (dwarf_aggregate_size(type, &size) != 0 || size == 0) return std::nullopt;
  return size;
}

std::string name_of_type(Dwarf_Die* type, int depth = 0) {
  if (const char* const name = find_name(type)) return name;
  Dwarf_Die inner;
  const bool has_inner = depth < kDeepestType && find_type(type, &inner);
  switch (dwarf_tag(type)) {
    case DW_TAG_pointer_type:
      return (has_inner ? name_of_type(&inner, depth + 1) : "void") + "*";
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
      return has_inner ? name_of_type(&inner, depth + 1) + "&" : "";
    case DW_TAG_array_type:
      return has_inner ? name_of_type(&inner, depth + 1) + "[]" : "";
    case DW_TAG_subroutine_type:
      return "function";
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
      return "(struct)";
    case DW_TAG_union_type:
      return "(union)";
    default:
      return has_inner ? name_of_type(&inner, depth + 1) : "";
  }
}

class LayoutReader {
 public:
  explicit LayoutReader(uint64_t size_bytes) : size_bytes_(size_bytes) {}

  /// False: damaged, or more than anybody would read.
  bool read_struct(Dwarf_Die* type, uint64_t at, const std::string& prefix, int depth) {
    Dwarf_Die child;
    if (depth > kDeepestType) return false;
    for (int status = dwarf_child(type, &child); status != 1;
         status = dwarf_siblingof(&child, &child)) {
      if (status < 0 || members_.size() > kMostMembers) return false;
      const int tag = dwarf_tag(&child);
      if (tag != DW_TAG_member && tag != DW_TAG_inheritance) continue;
      if (dwarf_hasattr(&child, DW_AT_external) || dwarf_hasattr(&child, DW_AT_const_value)) {
        continue;  // static
      }
      Dwarf_Die of;
      if (!find_type(&child, &of)) continue;
      const char* const name = tag == DW_TAG_inheritance ? nullptr : find_name(&child);
      const uint64_t bits = attribute_value(&child, DW_AT_bit_size, 0);
      const uint64_t offset = attribute_value(&child, DW_AT_data_member_location, 0);
      if (bits != 0) {
        const uint64_t first = attribute_value(&child, DW_AT_data_bit_offset, 8 * offset);
        add(prefix + (name != nullptr ? name : "(bits)"), &of, at + first / 8,
            (first % 8 + bits + 7) / 8);
        continue;
      }
      if (!read_member(&of, at + offset, name == nullptr ? "" : name, prefix, depth)) return false;
    }
    return true;
  }

  /// Ascending and with padding, members that share bytes made one.
  std::vector<TypeMember> finish() {
    std::stable_sort(members_.begin(), members_.end(),
                     [](const auto& a, const auto& b) { return a.offset < b.offset; });
    std::vector<TypeMember> result;
    uint64_t end = 0;
    for (TypeMember& member : members_) {
      if (member.offset >= size_bytes_ || member.size_bytes > size_bytes_ - member.offset) continue;
      if (member.offset < end) {  // bit fields of one byte
        TypeMember& before = result.back();
        before.name += "|" + member.name;
        before.size_bytes = std::max(end, member.offset + member.size_bytes) - before.offset;
      } else {
        if (member.offset > end) result.push_back({"", "", end, member.offset - end});
        result.push_back(std::move(member));
      }
      end = result.back().offset + result.back().size_bytes;
    }
    if (!result.empty() && end < size_bytes_) result.push_back({"", "", end, size_bytes_ - end});
    return result;
  }

 private:
  bool read_member(Dwarf_Die* of, uint64_t at, const std::string& name, const std::string& prefix,
                   int depth) {
    Dwarf_Die peeled;
    if (!peel_type(of, &peeled)) return false;
    const std::optional<uint64_t> size = size_of(&peeled);
    if (!size) return true;  // of no size: an empty base, an array without an end
    if (is_struct(&peeled)) {
      const size_t before = members_.size();
      const std::string inside = name.empty() ? prefix : prefix + name + ".";
      if (!read_struct(&peeled, at, inside, depth + 1)) return false;
      if (members_.size() == before && !name.empty()) add(prefix + name, of, at, *size);
      return true;
    }
    Dwarf_Die element;
    if (dwarf_tag(&peeled) == DW_TAG_array_type && find_element_type(&peeled, &element) &&
        is_struct(&element)) {
      const std::optional<uint64_t> each = size_of(&element);
      if (each && *size / *each <= kMostElements) {
        for (uint64_t i = 0; i < *size / *each; ++i) {
          if (!read_struct(&element, at + i * *each, prefix + name + "[].", depth + 1)) {
            return false;
          }
        }
        return true;
      }
    }
    add(prefix + (name.empty() ? name_of_type(&peeled) : name), of, at, *size);
    return true;
  }
  void add(std::string name, Dwarf_Die* of, uint64_t at, uint64_t size) {
    members_.push_back({std::move(name), name_of_type(of), at, size});
  }

  uint64_t size_bytes_;
  std::vector<TypeMember> members_;
};

/// Finds the array that std::array and its like consist of.
bool find_only_array(Dwarf_Die* type, Dwarf_Die* array) {
  const char* const name = find_name(type);
  const std::optional<uint64_t> size = size_of(type);
  if (name == nullptr || !std::string_view(name).starts_with("array<") || !size) return false;
  Dwarf_Die child;
  size_t members = 0;
  for (int status = dwarf_child(type, &child); status == 0 && members < 2;
       status = dwarf_siblingof(&child, &child)) {
    const int tag = dwarf_tag(&child);
    if (tag != DW_TAG_member && tag != DW_TAG_inheritance) continue;
    Dwarf_Die of;
    if (!find_type(&child, &of) || !peel_type(&of, array)) return false;
    ++members;
  }
  return members == 1 && dwarf_tag(array) == DW_TAG_array_type && size_of(array) == size;
}

}  // namespace

const char* find_name(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  return dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
}

bool find_type(Dwarf_Die* die, Dwarf_Die* type) {
  Dwarf_Attribute attribute;
  return dwarf_attr_integrate(die, DW_AT_type, &attribute) != nullptr &&
         dwarf_formref_die(&attribute, type) != nullptr;
}

bool peel_type(Dwarf_Die* type, Dwarf_Die* peeled) {
  return dwarf_peel_type(type, peeled) == 0;
}

bool find_element_type(Dwarf_Die* type, Dwarf_Die* element) {
  if (!peel_type(type, element)) return false;
  for (int depth = 0; depth < kDeepestType; ++depth) {
    Dwarf_Die inner;
    if (is_struct(element) && find_only_array(element, &inner)) *element = inner;
    if (dwarf_tag(element) != DW_TAG_array_type) return true;
    if (!find_type(element, &inner) || !peel_type(&inner, element)) return false;
  }
  return false;
}

bool is_struct(Dwarf_Die* type) {
  const int tag = dwarf_tag(type);
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
}

bool is_pointer(Dwarf_Die* type) {
  return dwarf_tag(type) == DW_TAG_pointer_type;
}

std::optional<TypeLayout> read_layout(Dwarf_Die* type) {
  Dwarf_Die element;
  if (!find_element_type(type, &element)) return std::nullopt;
  const std::optional<uint64_t> size = size_of(&element);
  if (!size) return std::nullopt;
  TypeLayout layout;
  layout.size_bytes = *size;
  layout.name = name_of_type(&element);
  if (find_name(&element) == nullptr && dwarf_tag(type) == DW_TAG_typedef) {
    layout.name = name_of_type(type);  // typedef struct { ... } name;
  }
  if (!is_struct(&element)) return layout;
  LayoutReader reader(*size);
  if (!reader.read_struct(&element, 0, "", 0)) return std::nullopt;
  layout.members = reader.finish();
  return layout;
}

bool find_member(Dwarf_Die* type, std::string_view name, Dwarf_Die* member, int depth) {
  Dwarf_Die child;
  if (depth > kDeepestType) return false;
  for (int status = dwarf_child(type, &child); status == 0;
       status = dwarf_siblingof(&child, &child)) {
    const int tag = dwarf_tag(&child);
    if (tag != DW_TAG_member && tag != DW_TAG_inheritance) continue;
    const char* const own = tag == DW_TAG_member ? find_name(&child) : nullptr;
    if (own != nullptr && own == name) {
      *member = child;
      return true;
    }
    Dwarf_Die of;
    Dwarf_Die peeled;
    const bool is_inside = own == nullptr && find_type(&child, &of) && peel_type(&of, &peeled) &&
                           find_member(&peeled, name, member, depth + 1);
    if (is_inside) return true;
  }
  return false;
}

}  // namespace culprit
