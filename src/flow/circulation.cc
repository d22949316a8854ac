#include "flow/circulation.h"

#include <algorithm>
#include <cmath>
#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>

namespace culprit {
namespace {

using Graph = lemon::SmartDigraph;
using Solver = lemon::NetworkSimplex<Graph, int64_t, int64_t>;

constexpr double kParts = 1e6;   // of the largest flow that a block asks for
constexpr double kPrices = 1e6;  // of the largest price

/// The flow for which the block pays least: where its prices become positive.
double find_cheapest(const FlowCost& cost) {
  double cheapest = 0;
  for (const FlowPiece& piece : cost) {
    if (piece.price < 0) cheapest = piece.until;
  }
  return cheapest;
}

}  // namespace

FlowCost cost_of_difference(double seen, double weight) {
  return {{seen, -weight}, {INFINITY, weight}};
}

FlowCost cost_of_samples(double samples, double runs_of_one) {
  const double price = 1 / runs_of_one;
  // Of expected samples e: e - samples x ln(e). Each piece has the slope between its ends.
  constexpr double kErrors[] = {-2, -0.7, 0, 0.7, 2};
  const double error = std::sqrt(samples);
  FlowCost cost;
  double begin = 0;
  for (const double errors : kErrors) {
    const double end = samples + errors * error;
    // No flow at all is impossible where there were samples, which no finite price says.
    if (!(end > std::max(begin, 0.02 * samples))) continue;
    const double from = std::max(begin, 0.1 * end);
    cost.push_back(
        {end * runs_of_one, price * (1 - samples * std::log(end / from) / (end - from))});
    begin = end;
  }
  cost.push_back({INFINITY, price * (begin > 0 ? 1 - samples / (1.5 * begin) : 1)});
  return cost;
}

std::optional<BlockFlow> fit_circulation(const FlowGraph& graph, std::span<const FlowCost> costs) {
  if (graph.blocks == 0 || graph.blocks > kLargestCirculation) return std::nullopt;
  double largest = 0;
  double dearest = 0;
  for (const FlowCost& one : costs) {
    largest = std::max(largest, find_cheapest(one));
    for (const FlowPiece& piece : one) dearest = std::max(dearest, std::abs(piece.price));
  }
  if (!(largest > 0) || !std::isfinite(largest) || !std::isfinite(dearest)) return std::nullopt;
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
  // No flow is larger: what all blocks ask for, one after the other.
  const auto no_limit = static_cast<int64_t>(2 * kParts * (graph.blocks + 1.0));

  // Cheaper pieces are taken before dearer ones, for prices grow. Blocks that cost nothing are one
  // node.
  std::vector<std::pair<uint32_t, Graph::Arc>> pieces;
  for (uint32_t block = 0; block < graph.blocks; ++block) {
    const auto take = [&](int64_t price, int64_t capacity) {
      pieces.emplace_back(block, add(block, graph.blocks + block, price, capacity));
    };
    int64_t begin = 0;
    for (const FlowPiece& piece : costs[block]) {
      const auto price = static_cast<int64_t>(std::llround(piece.price / dearest * kPrices));
      if (!std::isfinite(piece.until)) {
        take(std::max<int64_t>(price, 1), no_limit);
        break;
      }
      const auto end = std::min(no_limit, static_cast<int64_t>(std::llround(piece.until / unit)));
      if (end > begin) take(price, end - begin);
      begin = std::max(begin, end);
    }
  }
  std::vector<Graph::Arc> edges;
  edges.reserve(graph.edges.size());
  for (const FlowEdge& edge : graph.edges) {
    const bool is_inside = edge.from < graph.blocks;
    const bool is_one = is_inside && costs[edge.from].empty();
    const uint32_t from = !is_inside ? outside : is_one ? edge.from : graph.blocks + edge.from;
    const uint32_t to = edge.to < graph.blocks ? edge.to : outside;
    // What is not known costs a little, so that no flow goes round for nothing.
    edges.push_back(add(from, to, is_one ? 1 : 0, no_limit));
  }

  Solver solver(network);
  solver.upperMap(most).costMap(cost);
  if (solver.run() != Solver::OPTIMAL) return std::nullopt;
  BlockFlow flow;
  flow.blocks.resize(graph.blocks);
  for (const auto& [block, arc] : pieces) {
    flow.blocks[block] += unit * static_cast<double>(solver.flow(arc));
  }
  flow.edges.reserve(edges.size());
  for (size_t i = 0; i < edges.size(); ++i) {
    flow.edges.push_back(unit * static_cast<double>(solver.flow(edges[i])));
    const uint32_t from = graph.edges[i].from;
    if (from < graph.blocks && costs[from].empty()) flow.blocks[from] += flow.edges.back();
  }
  return flow;
}

}  // namespace culprit
