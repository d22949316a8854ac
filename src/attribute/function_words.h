#pragma once

// How to ask for a function on the command line: words for the shell that `culprit annotate`
// opens exactly it by.

#include <string>

#include "attribute/find_function.h"

namespace culprit {

/// A function as a report shows it. `module`: "" where the report does not tell.
struct NamedFunction {
  std::string name;
  bool inlined = false;
  std::string module = "";
};

/// The function's name if it has room, else the shortest pattern that finds it and no other:
/// "'*::_Hashtable<*>::_M_find_before_node'"; with --module or --copy where another function of
/// that name has more counts. Where nothing finds it alone, the name itself.
std::string make_function_words(CodeIndex& code, const NamedFunction& function, size_t room);

}  // namespace culprit
