#pragma once

// The setups that a search chooses among: every combination of one value of each factor. A setup
// is told by what it changes of the first one, which has the first value of each factor.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "scan/plan.h"

namespace culprit::scan {

/// The index of a value for each factor, in the order of SearchSpace::factors.
using Levels = std::vector<uint32_t>;

/// Units:  -> [setups], as a floating-point number: there may be more than 2^64
double count_setups(const SearchSpace& space);

/// How many factors have another value than their first.
size_t count_changes(const Levels& levels);

/// A setup of these levels. Its variables are the chosen values, and the other texts with these
/// filled in; where no text and no factor is called `flags`, that is all values but the compiler's,
/// parted by blanks. Its name says what it changes, "O=-O3 math=-ffast-math", or "base".
/// Errors: a text that names what is no factor
Result<Setup> make_setup(const SearchSpace& space, const Levels& levels);

}  // namespace culprit::scan
