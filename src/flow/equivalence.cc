#include "flow/equivalence.h"

#include <unordered_map>

namespace culprit {
namespace {

/// A generator whose every step is good. Source: S. Vigna, splitmix64.c (public domain)
uint64_t next_random(uint64_t& state) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

struct Link {
  uint32_t a = 0;
  uint32_t b = 0;
};

/// The graph without directions: each block is a link of its own between its two ends.
std::vector<Link> make_links(const FlowGraph& graph) {
  const uint32_t blocks = graph.blocks;
  const uint32_t outside = 2 * blocks;  // entry and exit joined
  const auto way_in = [&](uint32_t node) { return node < blocks ? node : outside; };
  const auto way_out = [&](uint32_t node) { return node < blocks ? blocks + node : outside; };
  std::vector<Link> links;
  links.reserve(blocks + graph.edges.size());
  for (uint32_t block = 0; block < blocks; ++block)
    links.push_back({way_in(block), way_out(block)});
  for (const FlowEdge& edge : graph.edges) links.push_back({way_out(edge.from), way_in(edge.to)});
  return links;
}

/// Sums of random labels over the cycles through each link; equal ones are in the same cycles.
std::vector<uint64_t> label_links(const std::vector<Link>& links, uint32_t nodes) {
  std::vector<std::vector<uint32_t>> at(nodes);
  for (uint32_t i = 0; i < links.size(); ++i) {
    at[links[i].a].push_back(i);
    at[links[i].b].push_back(i);
  }
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> towards_root(nodes, kNone);  // link
  std::vector<bool> is_met(nodes);
  std::vector<bool> is_of_tree(links.size());
  std::vector<uint32_t> order{nodes - 1};
  is_met[nodes - 1] = true;
  for (size_t i = 0; i < order.size(); ++i) {
    for (const uint32_t link : at[order[i]]) {
      const uint32_t other = links[link].a == order[i] ? links[link].b : links[link].a;
      if (is_met[other]) continue;
      is_met[other] = is_of_tree[link] = true;
      towards_root[other] = link;
      order.push_back(other);
    }
  }
  std::vector<uint64_t> label(links.size());
  std::vector<uint64_t> sum(nodes);
  uint64_t state = 0;
  for (uint32_t link = 0; link < links.size(); ++link) {
    if (is_of_tree[link]) continue;
    label[link] = next_random(state);
    sum[links[link].a] ^= label[link];
    sum[links[link].b] ^= label[link];
  }
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    const uint32_t link = towards_root[*node];
    if (link == kNone) continue;
    label[link] = sum[*node];
    sum[links[link].a == *node ? links[link].b : links[link].a] ^= sum[*node];
  }
  return label;
}

}  // namespace

FrequencyClasses find_frequency_classes(const FlowGraph& graph) {
  FrequencyClasses classes;
  const size_t edges = graph.edges.size();
  if (!graph.unresolved.empty()) {
    for (uint32_t i = 0; i < graph.blocks; ++i) classes.blocks.push_back(classes.count++);
    for (size_t i = 0; i < edges; ++i) classes.edges.push_back(classes.count++);
    return classes;
  }
  const std::vector<uint64_t> labels = label_links(make_links(graph), 2 * graph.blocks + 1);
  std::unordered_map<uint64_t, uint32_t> numbers;
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto [found, is_new] = numbers.try_emplace(labels[i], classes.count);
    if (is_new) ++classes.count;
    (i < graph.blocks ? classes.blocks : classes.edges).push_back(found->second);
  }
  return classes;
}

}  // namespace culprit
