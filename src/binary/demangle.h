#pragma once

// Linker names to names for people: C++, Rust (both schemes; hashes dropped), D,
// procedures of Fortran modules (gfortran's and flang's).

#include <string>
#include <string_view>

namespace culprit {

/// The demangled name, or `name` itself where it is not mangled or cannot be read.
/// Hostile names that expand without bound come back as they are.
std::string demangle(std::string_view name);

}  // namespace culprit
