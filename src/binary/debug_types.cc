#include "binary/debug_types.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <map>

#include "base/thread_local_place.h"
#include "binary/type_layout.h"

namespace culprit {
namespace {

constexpr int kDeepestScope = 256;

struct DwarfHandleEnd {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};
using OpenDwarf = std::unique_ptr<Dwarf, DwarfHandleEnd>;

/// "shop::Order", "struct order", "pair<int, long>" -> "Order", "order", "pair<int,long>": debug
/// information has namespaces around a name, not in it.
std::string key_of_name(std::string_view name) {
  for (const std::string_view word : {"const ", "struct ", "class ", "union ", "enum "}) {
    if (name.starts_with(word)) name.remove_prefix(word.size());
  }
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    depth += name[i] == '<' ? 1 : name[i] == '>' ? -1 : 0;
    if (depth == 0 && name[i] == ':') begin = i + 1;
  }
  std::string key;
  for (const char c : name.substr(begin)) {
    if (c != ' ') key += c;
  }
  return key;
}

/// One step of "grid->rows[i].cells": a name, and how often it is followed by a subscript.
struct Step {
  std::string name;
  int subscripts = 0;
};
std::vector<Step> parse_expression(std::string_view text) {
  std::vector<Step> steps;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      size_t end = i;
      while (end < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) {
        ++end;
      }
      steps.push_back({std::string(text.substr(i, end - i)), 0});
      i = end;
    } else if (c == '[') {
      int depth = 0;
      do {
        depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
      } while (++i < text.size() && depth > 0);
      if (steps.empty() || depth != 0) return {};
      ++steps.back().subscripts;
    } else {
      ++i;  // ".", "->"
    }
  }
  return steps;
}

/// What a subscript, or an arrow, leads to. False: neither pointer nor array.
bool step_into(Dwarf_Die* type, bool arrays_too) {
  Dwarf_Die peeled;
  Dwarf_Die inner;
  if (!peel_type(type, &peeled)) return false;
  const int tag = dwarf_tag(&peeled);
  const bool leads_on = tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
                        (arrays_too && tag == DW_TAG_array_type);
  if (!leads_on || !find_type(&peeled, &inner)) return false;
  *type = inner;
  return true;
}

std::optional<uint64_t> address_of(Dwarf_Die* variable) {
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  if (dwarf_attr(variable, DW_AT_location, &attribute) == nullptr ||
      dwarf_getlocation(&attribute, &operations, &count) != 0) {
    return std::nullopt;
  }
  if (count == 1 && operations[0].atom == DW_OP_addr) return operations[0].number;
  const bool is_of_thread =
      count == 2 && (operations[0].atom == DW_OP_const8u || operations[0].atom == DW_OP_const4u) &&
      (operations[1].atom == DW_OP_GNU_push_tls_address ||
       operations[1].atom == DW_OP_form_tls_address);
  return is_of_thread ? std::optional(kThreadLocalPlace + operations[0].number) : std::nullopt;
}

class TypeSearch {
 public:
  explicit TypeSearch(const WantedTypes& wanted) : wanted_(wanted) {
    found_.variables.resize(wanted.variables.size());
    found_.stack_variables.resize(wanted.stack_variables.size());
    stack_types_.resize(wanted.stack_variables.size());
    found_.pointers.resize(wanted.pointers.size());
    for (const std::string& name : wanted.names) names_[key_of_name(name)].push_back(&name);
  }

  void visit_unit(Dwarf_Die* unit, uint64_t size_bytes) {
    budget_ = size_bytes;
    pointers_here_.clear();
    for (size_t i = 0; i < wanted_.pointers.size(); ++i) {
      if (!found_.pointers[i] && dwarf_haspc(unit, wanted_.pointers[i].at.value) == 1) {
        pointers_here_.push_back(i);
      }
    }
    visit_children(unit, 0, {});
    for (const size_t i : pointers_here_) {
      if (!found_.pointers[i]) found_.pointers[i] = resolve(wanted_.pointers[i], unit);
    }
  }

  FoundTypes finish() { return std::move(found_); }

 private:
  /// `on_stack`: which variables of the stack are wanted of the function that the scope is in.
  void visit_children(Dwarf_Die* parent, int depth, const std::vector<size_t>& on_stack) {
    Dwarf_Die child;
    if (depth > kDeepestScope) return;
    for (int status = dwarf_child(parent, &child); status == 0;
         status = dwarf_siblingof(&child, &child)) {
      if (budget_ == 0) return;
      --budget_;
      switch (dwarf_tag(&child)) {
        case DW_TAG_variable:
          note_variable(&child);
          note_stack_variable(&child, on_stack);
          break;
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
          note_struct(&child);
          visit_children(&child, depth + 1, {});
          break;
        case DW_TAG_subprogram:
          if (!dwarf_hasattr(&child, DW_AT_declaration)) {
            visit_children(&child, depth + 1, find_wanted_on_stack(&child));
          }
          break;
        case DW_TAG_inlined_subroutine:
          if (!on_stack.empty()) visit_children(&child, depth + 1, on_stack);
          break;
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_common_block:
        case DW_TAG_lexical_block:
          visit_children(&child, depth + 1, on_stack);
          break;
        default:
          break;
      }
    }
  }

  void note_variable(Dwarf_Die* variable) {
    const std::optional<uint64_t> address = address_of(variable);
    if (!address) return;
    const auto at =
        std::lower_bound(wanted_.variables.begin(), wanted_.variables.end(), LinkAddress(*address));
    if (at == wanted_.variables.end() || at->value != *address) return;
    std::optional<TypeLayout>& found =
        found_.variables[static_cast<size_t>(at - wanted_.variables.begin())];
    Dwarf_Die type;
    if (!found && find_type(variable, &type)) found = read_layout(&type);
  }

  /// Which variables are wanted of the functions that begin in the code of this one: a compiler may
  /// have put a part of it elsewhere, which is a function for those who ask.
  std::vector<size_t> find_wanted_on_stack(Dwarf_Die* function) {
    std::vector<size_t> found;
    const std::vector<WantedTypes::StackVariable>& wanted = wanted_.stack_variables;
    Dwarf_Addr base = 0;
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    ptrdiff_t next = 0;
    while (!wanted.empty() && budget_ > 0 &&
           (next = dwarf_ranges(function, next, &base, &begin, &end)) > 0) {
      --budget_;
      const auto first = std::lower_bound(
          wanted.begin(), wanted.end(), LinkAddress(begin),
          [](const auto& one, LinkAddress address) { return one.function < address; });
      for (auto one = first; one != wanted.end() && one->function < LinkAddress(end); ++one) {
        found.push_back(static_cast<size_t>(one - wanted.begin()));
        if (budget_ > 0) --budget_;
      }
    }
    return found;
  }

  void note_stack_variable(Dwarf_Die* variable, const std::vector<size_t>& on_stack) {
    if (on_stack.empty()) return;
    const char* const name = find_name(variable);
    int line = 0;
    if (name == nullptr) return;
    if (dwarf_decl_line(variable, &line) != 0) line = 0;
    for (const size_t i : on_stack) {
      const WantedTypes::StackVariable& wanted = wanted_.stack_variables[i];
      if (int64_t{wanted.line} != line || wanted.name != name) continue;
      Dwarf_Die type;
      const bool has_type = find_type(variable, &type);
      StackType& known = stack_types_[i];
      if (known.is_ambiguous || (has_type && known.type == dwarf_dieoffset(&type))) continue;
      const std::optional<TypeLayout> layout = has_type ? read_layout(&type) : std::nullopt;
      std::optional<TypeLayout>& found = found_.stack_variables[i];
      known.is_ambiguous = !layout || (found && *found != *layout);
      if (has_type) known.type = dwarf_dieoffset(&type);
      found = known.is_ambiguous ? std::nullopt : layout;
      // Damaged files may have any number of variables of the name, whose types are all read.
      budget_ -= std::min<uint64_t>(budget_, layout ? layout->members.size() : 0);
    }
  }

  void note_struct(Dwarf_Die* type) {
    const char* const name = find_name(type);
    if (names_.empty() || name == nullptr || dwarf_hasattr(type, DW_AT_declaration)) return;
    const auto wanted = names_.find(key_of_name(name));
    if (wanted == names_.end()) return;
    if (const std::optional<TypeLayout> layout = read_layout(type)) {
      for (const std::string* const one : wanted->second) found_.names.emplace_back(*one, *layout);
      names_.erase(wanted);
    }
  }

  /// What the pointer points to.
  std::optional<TypeLayout> resolve(const WantedTypes::Expression& wanted, Dwarf_Die* unit) {
    const std::vector<Step> steps = parse_expression(wanted.text);
    Dwarf_Die variable;
    Dwarf_Die type;
    if (steps.empty() || !find_variable(unit, wanted.at.value, steps.front().name, &variable) ||
        !find_type(&variable, &type)) {
      return std::nullopt;
    }
    for (size_t i = 0; i < steps.size(); ++i) {
      if (i > 0) {
        Dwarf_Die of = type;
        step_into(&of, false);  // "->"; a "." leaves it as it is
        Dwarf_Die peeled;
        Dwarf_Die member;
        if (!peel_type(&of, &peeled) || !find_member(&peeled, steps[i].name, &member) ||
            !find_type(&member, &type)) {
          return std::nullopt;
        }
      }
      for (int n = 0; n < steps[i].subscripts; ++n) {
        if (!step_into(&type, true)) return std::nullopt;
      }
    }
    if (!step_into(&type, false)) return std::nullopt;
    return read_layout(&type);
  }

  /// Looks for that name where the code is: in the blocks around it, then in the unit.
  static bool find_variable(Dwarf_Die* unit, uint64_t at, const std::string& name,
                            Dwarf_Die* variable) {
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes(unit, at, &scopes);
    bool is_found = false;
    for (int i = 0; i < count && !is_found; ++i) is_found = find_in(&scopes[i], name, variable);
    std::free(scopes);
    return is_found || find_in(unit, name, variable);
  }
  static bool find_in(Dwarf_Die* scope, const std::string& name, Dwarf_Die* variable) {
    Dwarf_Die child;
    for (int status = dwarf_child(scope, &child); status == 0;
         status = dwarf_siblingof(&child, &child)) {
      const int tag = dwarf_tag(&child);
      if (tag != DW_TAG_variable && tag != DW_TAG_formal_parameter) continue;
      const char* const own = find_name(&child);
      if (own == nullptr || own != name) continue;
      *variable = child;
      return true;
    }
    return false;
  }

  const WantedTypes& wanted_;
  FoundTypes found_;
  std::map<std::string, std::vector<const std::string*>> names_;  // not found yet, by their keys
  std::vector<size_t> pointers_here_;
  /// What is known of the type of a wanted variable of the stack.
  struct StackType {
    Dwarf_Off type = 0;         // the DIE that was read last
    bool is_ambiguous = false;  // variables of the name differ in it, or one has none
  };
  std::vector<StackType> stack_types_;
  uint64_t budget_ = 0;
};

}  // namespace

const TypeLayout* FoundTypes::find(std::string_view name) const {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const auto& one) { return one.first == name; });
  return found == names.end() ? nullptr : &found->second;
}

struct DebugTypes::State {
  OpenDwarf alt;  // closed after `main`, which points into it
  OpenDwarf main;
};

DebugTypes::DebugTypes(std::unique_ptr<State> state) : state_(std::move(state)) {}
DebugTypes::DebugTypes(DebugTypes&&) noexcept = default;
DebugTypes& DebugTypes::operator=(DebugTypes&&) noexcept = default;
DebugTypes::~DebugTypes() = default;

Result<DebugTypes> DebugTypes::open(const ElfFile& debug_file, const ElfFile* alt_file) {
  auto state = std::make_unique<State>();
  state->main.reset(dwarf_begin_elf(debug_file.handle(), DWARF_C_READ, nullptr));
  if (!state->main) {
    return Error{"debug information cannot be read: " + std::string(dwarf_errmsg(-1))};
  }
  if (alt_file != nullptr) {
    state->alt.reset(dwarf_begin_elf(alt_file->handle(), DWARF_C_READ, nullptr));
    if (state->alt) dwarf_setalt(state->main.get(), state->alt.get());
  }
  return DebugTypes(std::move(state));
}

FoundTypes DebugTypes::read(const WantedTypes& wanted) {
  TypeSearch search(wanted);
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die{};
  uint8_t type = 0;
  while (dwarf_get_units(state_->main.get(), unit, &unit, nullptr, &type, &die, nullptr) == 0) {
    if (type == DW_UT_type || type == DW_UT_split_type) continue;
    Dwarf_Off next = 0;
    size_t header_size = 0;
    const Dwarf_Off start = dwarf_dieoffset(&die) - dwarf_cuoffset(&die);
    const bool has_size = dwarf_next_unit(state_->main.get(), start, &next, &header_size, nullptr,
                                          nullptr, nullptr, nullptr, nullptr, nullptr) == 0 &&
                          next > start;
    // Every DIE has a byte at least: a damaged tree ends by that.
    search.visit_unit(&die, has_size ? next - start : 0);
  }
  return search.finish();
}

}  // namespace culprit
