#pragma once

// The flow through a control-flow graph that fits what was seen of its blocks best: what goes into
// a block comes out of it, and the sum of what the blocks' flows cost is the least there is.

#include <optional>
#include <span>
#include <vector>

#include "flow/flow_graph.h"

namespace culprit {

/// Each run up to `until` costs `price`, which may be negative.
struct FlowPiece {
  double until = 0;
  double price = 0;
};
/// What the flow through one block costs: pieces by `until`, whose prices grow; the last one has no
/// end. Nothing is known of a block without pieces.
using FlowCost = std::vector<FlowPiece>;

/// weight x |flow - seen|.
FlowCost cost_of_difference(double seen, double weight);
/// How unlikely a flow is, of which so many samples were seen, each of which stands for
/// `runs_of_one` runs: the negative logarithm of Poisson's probability, in pieces.
FlowCost cost_of_samples(double samples, double runs_of_one);

struct BlockFlow {
  std::vector<double> blocks;  // runs
  std::vector<double> edges;
};

/// A graph with more blocks is left as it is: the time for it grows faster than with the blocks.
inline constexpr uint32_t kLargestCirculation = 12000;

/// Shape:  one cost per block
/// Errors: flows are conserved exactly in parts of a millionth of the largest flow that any block
///         asks for; nullopt of graphs that are too large, and where nothing was seen
/// Source: R. Levin, I. Newman, G. Haber, Complementing Missing and Inaccurate Profiling Using a
///         Minimum Cost Circulation Algorithm, HiPEAC 2008; solved by LEMON's network simplex
std::optional<BlockFlow> fit_circulation(const FlowGraph& graph, std::span<const FlowCost> costs);

}  // namespace culprit
