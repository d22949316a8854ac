#pragma once

// DebugTypes: how data is laid out, as debug information says: of a variable by its place, of one
// on the stack by its name, of what a pointer points to, of a type by its name.
//
//     struct node { double at[3]; struct { int id; char kind; } who; struct node* next; };
//
//     offset 0   at        double[3]        offset 29  (padding)   3 bytes
//     offset 24  who.id    int              offset 32  next        node*
//     offset 28  who.kind  char
//
// Built on libdw. Units that were split off (.dwo) and type units are not read.

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/result.h"
#include "binary/elf_file.h"

namespace culprit {

struct TypeMember {
  std::string name;  // "who.id"; "": padding
  std::string type;
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
  friend bool operator==(const TypeMember&, const TypeMember&) = default;
};

/// One element: of an array the type of its elements.
struct TypeLayout {
  std::string name;
  uint64_t size_bytes = 0;
  std::vector<TypeMember> members;  // ascending, without gaps or overlaps; empty: no struct
  friend bool operator==(const TypeLayout&, const TypeLayout&) = default;
};

/// What is wanted, found in one pass over the units.
struct WantedTypes {
  struct Expression {
    LinkAddress at;    // of code whose names are meant
    std::string text;  // "nodes", "grid->rows[i].cells"
  };
  /// A function may have several of the name and line: those of one inlined call after the other.
  struct StackVariable {
    LinkAddress function;  // where its code begins
    std::string name;
    uint32_t line = 0;  // of the declaration; 0: it has none
  };
  std::vector<LinkAddress> variables;          // ascending
  std::vector<StackVariable> stack_variables;  // ascending by function
  std::vector<Expression> pointers;
  std::set<std::string> names;  // "shop::Order", "struct node", "pair<int, int>"
};

struct FoundTypes {
  std::vector<std::optional<TypeLayout>> variables;        // parallel to what was wanted
  std::vector<std::optional<TypeLayout>> stack_variables;  // nullopt: also of several types
  std::vector<std::optional<TypeLayout>> pointers;         // of what they point to
  std::vector<std::pair<std::string, TypeLayout>> names;

  [[nodiscard]] const TypeLayout* find(std::string_view name) const;
};

class DebugTypes {
 public:
  /// Takes what DebugInfo::open() takes, and fails as it does.
  static Result<DebugTypes> open(const ElfFile& debug_file, const ElfFile* alt_file);
  DebugTypes(DebugTypes&&) noexcept;
  DebugTypes& operator=(DebugTypes&&) noexcept;
  ~DebugTypes();

  FoundTypes read(const WantedTypes& wanted);

 private:
  struct State;
  explicit DebugTypes(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace culprit
