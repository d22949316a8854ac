#pragma once

// The types of data objects, as far as debug information and source text tell: of variables by
// their place, of blocks by the call that allocates them:
//
//     std::__new_allocator<Order>::allocate()          Order, by the name of the function
//     node = (struct node*)malloc(size)                node, by the cast ...
//     grid->cells = calloc(n, sizeof *grid->cells)     ... else by what the pointer points to

#include <vector>

#include "model/image_facts.h"
#include "snapshot/elf_facts.h"

namespace culprit {

/// Fills facts.fields; functions, lines and sources are there. Both lists ascend.
void add_type_facts(ImageFacts& facts, const ElfSources& sources,
                    const std::vector<FileOffset>& variables,
                    const std::vector<FileOffset>& allocations);

}  // namespace culprit
