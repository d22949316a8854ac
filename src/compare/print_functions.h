#pragma once

// How a difference says which functions of the two sides a row is of.
//
//     Matched  names of the base runs -> the new ones
//       lookup -> lookup, lookup.cold
//       scan_old -> scan_new (by the shape of the code)

#include <string>

#include "base/text_style.h"
#include "compare/difference.h"
#include "compare/print_comparison.h"
#include "print/json_parts.h"

namespace culprit {

/// The rows that have other names on one side than on the other; "" if there are none.
std::string print_functions(const PrintedComparison& what, const Difference& difference,
                            const TextStyle& style);

/// "lookup -> lookup, lookup.cold"; "" where nothing is to say.
std::string describe_functions(const RowChange& row);
/// Null where a row is not of functions.
Json json_functions(const RowChange& row);

}  // namespace culprit
