#pragma once

// --range NAME that no file has, or several variables have: what to write instead.

#include <string>
#include <vector>

#include "simulate/objects/ranges.h"

namespace culprit {

/// "no variable 'mtrix' in any file that ran (did you mean matrix?)"; "'buf' may be buf.0 or buf.1
/// of prog: name one of them". `files`: that ran, the program's first; those that cannot be read
/// are passed over.
std::string describe_missing(const objects::Range& range, const std::vector<std::string>& files);

}  // namespace culprit
