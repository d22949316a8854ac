#pragma once

// --range FILE:LINE: the code of a source line in the program's file, whose calls allocate the
// blocks that are meant.

#include <string>
#include <vector>

#include "base/result.h"
#include "simulate/objects/ranges.h"

namespace culprit {

/// Fills Range::program and Range::code of those that are by line. `program`: what is to run.
/// Errors: no such program, or one without debug information; a line without code (the nearest ones
/// are told)
Result<void> find_code_of_ranges(std::vector<objects::Range>& ranges, const std::string& program);

}  // namespace culprit
