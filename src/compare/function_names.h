#pragma once

// What runs of different builds call one function, and which functions were given another name.
//
//     lookup -> lookup, lookup.cold          split
//     hash -> hash (inlined)                 no code of its own any more
//     scan_old -> scan_new                   the same shape of code (flow/code_shape.h)

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>

#include "compare/run_costs.h"
#include "compare/run_rows.h"

namespace culprit {

/// Shapes of functions' code by name without clone suffixes, each of one function of its side only.
using FunctionShapes = std::map<std::string, uint64_t>;

/// Functions that only one side has, and whose shape is one of the other side's: from the new name
/// to the old one.
std::map<std::string, std::string> match_renamed(const FunctionShapes& base,
                                                 const FunctionShapes& now);

/// The names at one level of the rows' keys.
std::set<std::string> names_at(std::span<const RunRows> runs, size_t level);

/// Gives rows of functions that were renamed their old name, or adds them to rows that have it.
void rename_functions(const std::map<std::string, std::string>& renamed, size_t level, RunRows& run,
                      RunCosts& costs);

}  // namespace culprit
