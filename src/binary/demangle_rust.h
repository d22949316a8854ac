#pragma once

// Internal to `binary`: Rust names of the "v0" mangling. Like C++'s they may refer back to
// earlier parts, so that a short name can stand for gigabytes; a bound on the length is
// computed before LLVM's demangler prints anything.

#include <cstdint>
#include <string>
#include <string_view>

namespace culprit {

/// The name for people; "" if `name` is not one, or may be longer than `max_bytes` by far.
std::string demangle_rust(std::string_view name, size_t max_bytes);

}  // namespace culprit
