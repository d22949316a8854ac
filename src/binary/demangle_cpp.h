#pragma once

// Internal to `binary`: C++ names (the Itanium ABI's mangling). They come from files of
// strangers, and fifty characters can stand for terabytes:
//
//   _Z1fSt4pairIiiE S_IS0_S0_E S_IS1_S1_E ...   each parameter twice as long as the one before
//
// LLVM's parser makes a tree (a graph: repeated parts are shared) in time and memory that
// follow the length of the name. How long it would be in print is computed on the graph,
// and only what is short is printed.

#include <string>
#include <string_view>

namespace culprit {

/// The name for people; "" if `name` is not a mangled C++ name or would be longer than
/// `max_bytes` (or may be: the estimate errs to the long side, by some times at most).
std::string demangle_cpp(std::string_view name, size_t max_bytes);

}  // namespace culprit
