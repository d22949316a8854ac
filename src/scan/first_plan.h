#pragma once

// A setup file for a source, for people to edit: `culprit scan init`.

#include <string>

#include "base/result.h"

namespace culprit::scan {

/// What setups of this source's language name beside GCC: "clang++", "clang"; "" where there is
/// none, or the language is not known.
std::string find_clang_of(const std::string& source);

/// The file's text. `text`: the source's own, which has the macro DIM if it is of a size. `clang`:
/// the compiler to name, with its version, as it is called here: "clang++-19"; "": none is.
/// Errors: nothing is known of the language, by the source's suffix
Result<std::string> make_first_plan(const std::string& source, const std::string& text,
                                    const std::string& clang);

}  // namespace culprit::scan
