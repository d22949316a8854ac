#include "flow/circulation.h"

#include <algorithm>
#include <cmath>
#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>

namespace culprit {
namespace {

using Graph = lemon::SmartDigraph;
using Solver = lemon::NetworkSimplex<Graph, int64_t, int64_t>;

constexpr double kParts = 1e6;    // of the largest target
constexpr double kWeights = 1e4;  // of the largest weight
constexpr double kFewest = 1e-3;  // of the largest weight: the least that counts

}  // namespace

std::optional<BlockFlow> fit_circulation(const FlowGraph& graph,
                                         std::span<const FlowTarget> targets) {
  if (graph.blocks == 0 || graph.blocks > kLargestCirculation) return std::nullopt;
  double largest = 0;
  double heaviest = 0;
  for (const FlowTarget& target : targets) {
    if (!(target.weight > 0)) continue;
    largest = std::max(largest, target.runs);
    heaviest = std::max(heaviest, target.weight);
  }
  if (!(largest > 0) || !std::isfinite(largest) || !std::isfinite(heaviest)) return std::nullopt;
  const double unit = largest / kParts;

  Graph network;
  network.reserveNode(static_cast<int>(2 * graph.blocks + 1));
  for (uint32_t i = 0; i < 2 * graph.blocks + 1; ++i) network.addNode();
  const auto node = [&](uint32_t number) { return Graph::nodeFromId(static_cast<int>(number)); };
  const uint32_t outside = 2 * graph.blocks;

  Graph::ArcMap<int64_t> cost(network);
  Graph::ArcMap<int64_t> most(network);
  const auto add = [&](uint32_t from, uint32_t to, int64_t price, int64_t capacity) {
    const Graph::Arc arc = network.addArc(node(from), node(to));
    cost[arc] = price;
    most[arc] = capacity;
    return arc;
  };
  // No flow is larger: all blocks' targets one after the other.
  const auto no_limit = static_cast<int64_t>(2 * kParts * (graph.blocks + 1.0));

  std::vector<Graph::Arc> seen(graph.blocks);    // up to the target: cheaper than nothing
  std::vector<Graph::Arc> beyond(graph.blocks);  // beyond it
  for (uint32_t block = 0; block < graph.blocks; ++block) {
    const FlowTarget& target = targets[block];
    const bool is_known = target.weight > 0;
    const double weight = is_known ? std::max(target.weight / heaviest, kFewest) : 0;
    const auto price = static_cast<int64_t>(std::llround(weight * kWeights));
    const auto wanted =
        is_known ? static_cast<int64_t>(std::llround(std::max(0.0, target.runs) / unit)) : 0;
    seen[block] = add(block, graph.blocks + block, -price, wanted);
    // What is not known costs a little, so that no flow goes round for nothing.
    beyond[block] = add(block, graph.blocks + block, std::max<int64_t>(price, 1), no_limit);
  }
  std::vector<Graph::Arc> edges;
  edges.reserve(graph.edges.size());
  for (const FlowEdge& edge : graph.edges) {
    const uint32_t from = edge.from < graph.blocks ? graph.blocks + edge.from : outside;
    const uint32_t to = edge.to < graph.blocks ? edge.to : outside;
    edges.push_back(add(from, to, 0, no_limit));
  }

  Solver solver(network);
  solver.upperMap(most).costMap(cost);
  if (solver.run() != Solver::OPTIMAL) return std::nullopt;
  BlockFlow flow;
  flow.blocks.resize(graph.blocks);
  for (uint32_t block = 0; block < graph.blocks; ++block) {
    flow.blocks[block] =
        unit * static_cast<double>(solver.flow(seen[block]) + solver.flow(beyond[block]));
  }
  flow.edges.reserve(edges.size());
  for (const Graph::Arc arc : edges) {
    flow.edges.push_back(unit * static_cast<double>(solver.flow(arc)));
  }
  return flow;
}

}  // namespace culprit
