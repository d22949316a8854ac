#include "flow/loop_forest.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace culprit {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

/// Nodes numbered as a depth-first walk from the entry meets them.
struct Walk {
  std::vector<uint32_t> number;  // by node; kNone: not met
  std::vector<uint32_t> node;    // by number
  std::vector<uint32_t> last;    // by number: the highest below it

  [[nodiscard]] bool is_above(uint32_t a, uint32_t b) const { return a <= b && b <= last[a]; }
};

Walk walk_depth_first(const FlowGraph& graph, const EdgeIndex& out) {
  Walk walk;
  walk.number.assign(graph.nodes(), kNone);
  std::vector<std::pair<uint32_t, size_t>> path;  // node, its next edge
  const auto meet = [&](uint32_t node) {
    walk.number[node] = static_cast<uint32_t>(walk.node.size());
    walk.node.push_back(node);
    walk.last.push_back(walk.number[node]);
    path.emplace_back(node, 0);
  };
  meet(graph.entry());
  while (!path.empty()) {
    const uint32_t node = path.back().first;
    const auto edges = out.of(node);
    if (path.back().second < edges.size()) {
      const uint32_t to = graph.edges[edges[path.back().second++]].to;
      if (walk.number[to] == kNone) meet(to);
      continue;
    }
    walk.last[walk.number[node]] = static_cast<uint32_t>(walk.node.size()) - 1;
    path.pop_back();
  }
  return walk;
}

/// Loops found so far are one node each: that of their head.
class Merged {
 public:
  explicit Merged(size_t size) : into_(size) { std::iota(into_.begin(), into_.end(), 0U); }
  uint32_t find(uint32_t at) {
    while (into_[at] != at) at = into_[at] = into_[into_[at]];
    return at;
  }
  void merge(uint32_t at, uint32_t head) { into_[at] = head; }

 private:
  std::vector<uint32_t> into_;
};

}  // namespace

bool LoopForest::is_inside(uint32_t block, uint32_t loop) const {
  for (std::optional<uint32_t> at = innermost[block]; at; at = loops[*at].parent) {
    if (*at == loop) return true;
  }
  return false;
}

LoopForest find_loops(const FlowGraph& graph) {
  LoopForest forest;
  forest.innermost.resize(graph.blocks);
  if (graph.blocks == 0) return forest;
  const Walk walk = walk_depth_first(graph, index_sources(graph));
  const EdgeIndex in = index_targets(graph);
  const auto count = static_cast<uint32_t>(walk.node.size());

  std::vector<uint32_t> head(count, kNone);  // of the innermost loop around a number
  std::vector<bool> is_head(count);
  std::vector<bool> is_irreducible(count);
  Merged merged(count);
  std::vector<bool> is_in_body(count);
  // Inner heads have higher numbers than outer ones.
  for (uint32_t w = count; w-- > 0;) {
    std::vector<uint32_t> body;
    const auto take = [&](uint32_t x) {
      if (x == w || is_in_body[x]) return;
      is_in_body[x] = true;
      body.push_back(x);
    };
    for (const uint32_t edge : in.of(walk.node[w])) {
      const uint32_t v = walk.number[graph.edges[edge].from];
      if (v == kNone || !walk.is_above(w, v)) continue;
      is_head[w] = true;  // a block that goes back to itself, too
      take(merged.find(v));
    }
    for (size_t i = 0; i < body.size(); ++i) {
      for (const uint32_t edge : in.of(walk.node[body[i]])) {
        const uint32_t y = walk.number[graph.edges[edge].from];
        if (y == kNone || walk.is_above(body[i], y)) continue;  // goes round an inner loop
        const uint32_t from = merged.find(y);
        if (walk.is_above(w, from)) {
          take(from);
        } else {
          is_irreducible[w] = true;
        }
      }
    }
    for (const uint32_t x : body) {
      head[x] = w;
      merged.merge(x, w);
      is_in_body[x] = false;
    }
  }

  std::vector<uint32_t> heads;  // numbers, by block
  for (uint32_t n = 0; n < count; ++n) {
    if (is_head[n] && walk.node[n] < graph.blocks) heads.push_back(n);
  }
  std::sort(heads.begin(), heads.end(),
            [&](uint32_t a, uint32_t b) { return walk.node[a] < walk.node[b]; });
  std::vector<uint32_t> row(count, kNone);
  for (const uint32_t n : heads) {
    row[n] = static_cast<uint32_t>(forest.loops.size());
    FlowLoop loop;
    loop.head = loop.last = walk.node[n];
    loop.is_irreducible = is_irreducible[n];
    forest.loops.push_back(loop);
  }
  const auto loop_around = [&](uint32_t n) -> std::optional<uint32_t> {
    if (head[n] == kNone || row[head[n]] == kNone) return std::nullopt;
    return row[head[n]];
  };
  for (const uint32_t n : heads) {
    FlowLoop& loop = forest.loops[row[n]];
    loop.parent = loop_around(n);
    if (loop.parent) forest.loops[*loop.parent].is_innermost = false;
  }
  // An outer head was met before those of the loops in it.
  std::sort(heads.begin(), heads.end());
  for (const uint32_t n : heads) {
    FlowLoop& loop = forest.loops[row[n]];
    if (loop.parent) loop.depth = forest.loops[*loop.parent].depth + 1;
  }
  for (uint32_t n = 0; n < count; ++n) {
    if (walk.node[n] >= graph.blocks) continue;
    const std::optional<uint32_t> around = row[n] != kNone ? row[n] : loop_around(n);
    forest.innermost[walk.node[n]] = around;
    if (around) {
      uint32_t& last = forest.loops[*around].last;
      last = std::max(last, walk.node[n]);
    }
  }
  for (auto n = heads.rbegin(); n != heads.rend(); ++n) {
    const FlowLoop& loop = forest.loops[row[*n]];
    if (!loop.parent) continue;
    uint32_t& last = forest.loops[*loop.parent].last;
    last = std::max(last, loop.last);
  }
  return forest;
}

}  // namespace culprit
