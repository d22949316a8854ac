#pragma once

// What a line of source text says of the memory that it allocates: to what it assigns it, and of
// which type it is. For people and for hints: nothing here knows a language.

#include <string>
#include <string_view>
#include <vector>

namespace culprit {

/// What a statement assigns to: "K[i]" of "K[i] = (double*)malloc(9);"; else the container that it
/// fills or makes: "world.items" of "world.items.resize(n);", "rows" of "std::vector<Row>
/// rows(n);".
/// "" if it is none of these, its left side is no name, or it assigns more than once. Heads of
/// loops are no part of it.
std::string find_assigned(std::string_view statement);

/// Of a line with several statements, or declarations of several, to what each one that calls or
/// makes something assigns it, in their order: "hits" and "misses" of "std::vector<int> hits(4),
/// misses(4);", "a" and "b" of "a = malloc(4); b = malloc(4); n = 4;". Empty if one of them does
/// something else.
std::vector<std::string> find_all_assigned(std::string_view line);

/// What Fortran's statement allocates, in its order: "a" and "grid%x" of "allocate(a(n,n),
/// grid%x(n), stat=ios)". Empty if it is none.
std::vector<std::string> find_allocated_names(std::string_view statement);

/// The type that it names: "node" of "p = (struct node *)malloc(n)", "Tree" of "new Tree[3]",
/// "std::make_unique<Tree>()"; "" where it names none.
std::string find_allocated_type(std::string_view statement);

}  // namespace culprit
