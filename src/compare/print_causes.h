#pragma once

// How a difference says why rows changed.
//
//     Why     by the tree of cycles (simulated-core)
//       lookup: +1.25 G cycles measured, +1.19 G in the tree
//         +1.10 G ?  load latency, most of it memory: loads from memory 1.20 M -> 5.41 M
//         instructions 1.20 G -> 1.21 G

#include <string>

#include "base/text_style.h"
#include "compare/difference.h"
#include "compare/print_comparison.h"
#include "print/json_parts.h"

namespace culprit {

/// The causes of the rows that the table shows, and of the total; "" if nothing changed.
std::string print_causes(const PrintedComparison& what, const Difference& difference,
                         const TextStyle& style);

Json json_cause(const Cause& cause);
/// "load_latency +1.1e+09; branch_misprediction -2e+06", "unknown: time alone".
std::string csv_cause(const Cause& cause);

}  // namespace culprit
