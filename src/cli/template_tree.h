#pragma once

// One template, as people and programs read it.
//
//     load latency                              full
//       L3 misses
//         + local DRAM           225 cycles     MEM_LOAD_UOPS_LLC_MISS_RETIRED:LOCAL_DRAM
//       - L1                                    MEM_LOAD_UOPS_RETIRED:L1_HIT

#include <string>

#include "templates/template.h"
#include <nlohmann/json.hpp>

namespace culprit {

/// The tree: branches, what is summed and what informs, coverage, rules.
std::string print_template(const Template& whole);

/// All of it (schema/templates.schema.json, "template").
nlohmann::ordered_json json_of(const Template& whole);

/// "9 full, 1 partial, 1 not": how much of the tree it covers.
std::string coverage_in_words(const Template& whole);

/// Level-3 branches with this coverage.
size_t count_branches(const Template& whole, Coverage coverage);

}  // namespace culprit
