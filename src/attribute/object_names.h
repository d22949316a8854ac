#pragma once

// What data objects are called: a variable by its name, memory of the heap by the code that
// allocates it: the innermost frame outside allocators and the libraries of containers, and what
// its source says that the memory is kept in.
//
//     operator new  <  std::vector<int>::reserve  <  make_rows quake.c:452  <  main
//                                                    ^ the name; or: rows[i] quake.c:452

#include <map>
#include <string>
#include <vector>

#include "attribute/allocated_names.h"
#include "attribute/code_index.h"

namespace culprit {

/// Whether a function of this name hands on memory that it was asked for: no name for the memory.
bool is_allocating_function(std::string_view name);

class ObjectNames {
 public:
  /// It must outlive the ObjectNames.
  explicit ObjectNames(CodeIndex& code) : code_(code), kept_in_(code) {}

  /// "disp" (also of disp.3, if no other variable here is called so), "make_rows quake.c:452",
  /// "K[i] quake.c:431"; "disp[t]: rows[i] quake.c:431" where the caller of the function that asks
  /// for it assigns its result; "K[i] quake.c:431 #17" of a block of its own; "words in parse
  /// parse.c:12", "stack of parse", "[stack]", "[unknown]", "[no access]", "[not recorded]".
  const std::string& name(ObjectId object);
  /// Whether the name is that of a data structure: a variable, memory that a function outside
  /// allocators asked for, a stack, a file. A section, or the memory of an allocator, is none.
  bool is_named(ObjectId object);

 private:
  struct Name {
    std::string text;
    bool is_of_data = false;
  };
  const Name& find(ObjectId object);
  Name make_name(ObjectId object);
  Name name_by_calls(const DataObject& object);
  std::string name_of_function(const Location& begin);
  std::string name_of_variable(const std::string& symbol);

  CodeIndex& code_;
  AllocatedNames kept_in_;
  std::vector<Name> names_;              // by row; "": not made yet
  std::map<std::string, size_t> stems_;  // how many variables and ranges are called so
};

}  // namespace culprit
