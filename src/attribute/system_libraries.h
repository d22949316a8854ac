#pragma once

// Libraries that come with the compiler and the system, and do their work for whoever calls them.

#include <algorithm>
#include <string_view>

namespace culprit {

/// The C and C++ libraries and the dynamic linker, by their file's name, as "libc.so.6" or
/// "libc-2.31.so".
inline bool is_system_library(std::string_view name) {
  constexpr std::string_view kBegins[] = {"libc.",      "libc-2",  "libpthread", "ld-",
                                          "libstdc++.", "libc++.", "libgcc_s."};
  return std::ranges::any_of(kBegins,
                             [&](std::string_view begin) { return name.starts_with(begin); });
}

}  // namespace culprit
