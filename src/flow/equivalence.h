#pragma once

// What must run equally often, whatever the program does: blocks and edges of which each cycle of
// the graph (its exit joined to its entry) that goes through one goes through the other.

#include <cstdint>
#include <vector>

#include "flow/flow_graph.h"

namespace culprit {

struct FrequencyClasses {
  std::vector<uint32_t> blocks;  // class of each
  std::vector<uint32_t> edges;
  uint32_t count = 0;
};

/// Where a jump's targets are not known, nothing is the same as anything else.
/// Errors: two that differ are taken for one with a probability below edges^2 / 2^64
/// Source: R. Johnson, D. Pearson, K. Pingali, The Program Structure Tree, PLDI 1994, for what
///         they are; D. Pritchard and R. Thurimella, Fast Computation of Small Cuts via Cycle
///         Space Sampling, ACM TALG 7:4 (2011), for how they are found, in linear time
FrequencyClasses find_frequency_classes(const FlowGraph& graph);

}  // namespace culprit
