#pragma once

// Templates as people and programs read them: one with its tree, or the list of all.
//
//     load latency                              full
//       L3 misses
//         + local DRAM           225 cycles     MEM_LOAD_UOPS_LLC_MISS_RETIRED:LOCAL_DRAM
//       - L1                                    MEM_LOAD_UOPS_RETIRED:L1_HIT

#include <string>
#include <vector>

#include "base/text_style.h"
#include "templates/template.h"

namespace culprit {

/// The tree: branches, what is summed and what informs, coverage, rules. As JSON all of it
/// (schema/templates.schema.json, "template").
std::string print_template(const Template& whole, Format format);

/// "validated by Gooda on Westmere-EP, ..."; "not validated on hardware".
std::string validation_in_words(const Template& whole);

struct ListedTemplate {
  Template whole;
  bool is_here = false;  // for this machine's CPU
};

/// A line each. `cpuid`: this machine's; "" if it is not known.
std::string print_template_list(const std::vector<ListedTemplate>& list, const std::string& cpuid,
                                Format format);

}  // namespace culprit
