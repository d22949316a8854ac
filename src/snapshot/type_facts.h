#pragma once

// The types of data objects, as far as debug information and source text tell: of variables by
// their place, of those on the stack by their name, of blocks by the call that allocates them:
//
//     std::__new_allocator<Order>::allocate()          Order, by the name of the function
//     node = (struct node*)malloc(size)                node, by the cast ...
//     grid->cells = calloc(n, sizeof *grid->cells)     ... else by what the pointer points to

#include <compare>
#include <string>
#include <vector>

#include "model/image_facts.h"
#include "snapshot/elf_facts.h"

namespace culprit {

/// A variable on the stack of the function that begins there.
struct StackVariable {
  FileOffset function;
  std::string name;  // of its object, with the place of its declaration (model/instance_names.h)
  friend auto operator<=>(const StackVariable&, const StackVariable&) = default;
};

/// Data of one image whose types are wanted. Each list ascends.
struct WantedData {
  std::vector<FileOffset> variables{};
  std::vector<StackVariable> stack_variables{};
  std::vector<FileOffset> allocations{};  // calls that led to them
};

/// Fills facts.fields; functions, lines and sources are there.
void add_type_facts(ImageFacts& facts, const ElfSources& sources, const WantedData& wanted_data);

}  // namespace culprit
