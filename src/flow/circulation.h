#pragma once

// The flow through a control-flow graph that fits what was seen of its blocks best: what goes into
// a block comes out of it, and the sum of weight x |flow - seen| is the least there is.

#include <optional>
#include <span>
#include <vector>

#include "flow/flow_graph.h"

namespace culprit {

/// What was seen of one block.
struct FlowTarget {
  double runs = 0;
  double weight = 1;  // of an error of one run; 0: nothing is known of the block
};

struct BlockFlow {
  std::vector<double> blocks;  // runs
  std::vector<double> edges;
};

/// A graph with more blocks is left as it is: the time for it grows faster than with the blocks.
inline constexpr uint32_t kLargestCirculation = 12000;

/// Shape:  one target per block
/// Errors: flows are conserved exactly in parts of a millionth of the largest target; nullopt of
///         graphs that are too large, and where nothing was seen
/// Source: R. Levin, I. Newman, G. Haber, Complementing Missing and Inaccurate Profiling Using a
///         Minimum Cost Circulation Algorithm, HiPEAC 2008; solved by LEMON's network simplex
std::optional<BlockFlow> fit_circulation(const FlowGraph& graph,
                                         std::span<const FlowTarget> targets);

}  // namespace culprit
