#include "flow/flow_graph.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace culprit {
namespace {

class GraphMaker {
 public:
  GraphMaker(const Disassembly& code, const FlowHints& hints) : code_(code), hints_(hints) {
    graph_.blocks = static_cast<uint32_t>(code.blocks.size());
  }

  FlowGraph make() {
    if (graph_.blocks == 0) return std::move(graph_);
    add(graph_.entry(), 0, FlowEdgeKind::entry);
    for (uint32_t block = 0; block < graph_.blocks; ++block) add_edges_of(block);
    remove_doubles();
    enter_the_unreachable();
    leave_endless_loops();
    remove_doubles();
    return std::move(graph_);
  }

 private:
  void add(uint32_t from, uint32_t to, FlowEdgeKind kind) {
    graph_.edges.push_back({from, to, kind});
  }

  [[nodiscard]] std::optional<uint32_t> block_at(LinkAddress address) const {
    const auto found = find_block(code_.blocks, address);
    if (!found || code_.blocks[*found].begin != address) return std::nullopt;
    return static_cast<uint32_t>(*found);
  }

  void jump(uint32_t from, std::optional<LinkAddress> target) {
    const auto block = target ? block_at(*target) : std::nullopt;
    if (block) {
      add(from, *block, FlowEdgeKind::jump);
    } else {
      add(from, graph_.exit(), FlowEdgeKind::leave);
    }
  }

  void fall(uint32_t from) {
    const bool goes_on =
        from + 1 < graph_.blocks && code_.blocks[from + 1].begin == code_.blocks[from].end;
    add(from, goes_on ? from + 1 : graph_.exit(),
        goes_on ? FlowEdgeKind::fall : FlowEdgeKind::leave);
  }

  void jump_indirectly(uint32_t block, const Instruction& last) {
    auto at = std::lower_bound(
        hints_.targets.begin(), hints_.targets.end(), last.address,
        [](const JumpTarget& one, LinkAddress address) { return one.from < address; });
    bool is_whole =
        hints_.has_all_targets && at != hints_.targets.end() && at->from == last.address;
    for (; at != hints_.targets.end() && at->from == last.address; ++at) {
      jump(block, at->to);
      is_whole = is_whole || at->is_complete;
    }
    if (is_whole) return;
    add(block, graph_.exit(), FlowEdgeKind::leave);
    graph_.unresolved.push_back(block);
  }

  void add_edges_of(uint32_t block) {
    const Instruction& last = code_.instructions[code_.blocks[block].last - 1];
    switch (last.flow) {
      case Flow::next:
        fall(block);
        return;
      case Flow::call:
        if (hints_.never_returns && hints_.never_returns(last)) {
          add(block, graph_.exit(), FlowEdgeKind::leave);
        } else {
          fall(block);
        }
        return;
      case Flow::jump:
        jump(block, last.target);
        return;
      case Flow::branch:
        jump(block, last.target);
        fall(block);
        return;
      case Flow::indirect_jump:
        jump_indirectly(block, last);
        return;
      case Flow::returns:
      case Flow::trap:
        add(block, graph_.exit(), FlowEdgeKind::leave);
        return;
    }
  }

  void remove_doubles() {
    const auto key = [](const FlowEdge& edge) { return std::tie(edge.from, edge.to, edge.kind); };
    std::sort(graph_.edges.begin(), graph_.edges.end(),
              [&](const FlowEdge& a, const FlowEdge& b) { return key(a) < key(b); });
    const auto end = std::unique(
        graph_.edges.begin(), graph_.edges.end(),
        [](const FlowEdge& a, const FlowEdge& b) { return a.from == b.from && a.to == b.to; });
    graph_.edges.erase(end, graph_.edges.end());
  }

  /// Marks what can be reached from `start`; `next`: edges out of a node, or into it.
  template <class End>
  void spread(const EdgeIndex& next, End end, uint32_t start, std::vector<bool>& is_reached) {
    if (is_reached[start]) return;
    std::vector<uint32_t> open{start};
    is_reached[start] = true;
    while (!open.empty()) {
      const uint32_t node = open.back();
      open.pop_back();
      for (const uint32_t edge : next.of(node)) {
        const uint32_t to = end(graph_.edges[edge]);
        if (is_reached[to]) continue;
        is_reached[to] = true;
        open.push_back(to);
      }
    }
  }

  void enter_the_unreachable() {
    const EdgeIndex out = index_sources(graph_);
    const auto target = [](const FlowEdge& edge) { return edge.to; };
    std::vector<bool> has_way_in(graph_.nodes());
    for (const FlowEdge& edge : graph_.edges) {
      if (edge.from != edge.to) has_way_in[edge.to] = true;
    }
    std::vector<bool> is_reached(graph_.nodes());
    spread(out, target, graph_.entry(), is_reached);
    // First what nothing leads to, then loops that nothing leads to.
    for (const bool only_heads : {true, false}) {
      for (uint32_t block = 0; block < graph_.blocks; ++block) {
        if (is_reached[block] || (only_heads && has_way_in[block])) continue;
        add(graph_.entry(), block, FlowEdgeKind::assumed);
        spread(out, target, block, is_reached);
      }
    }
  }

  void leave_endless_loops() {
    const EdgeIndex in = index_targets(graph_);
    const auto source = [](const FlowEdge& edge) { return edge.from; };
    std::vector<bool> is_left(graph_.nodes());
    spread(in, source, graph_.exit(), is_left);
    for (uint32_t block = graph_.blocks; block-- > 0;) {
      if (is_left[block]) continue;
      add(block, graph_.exit(), FlowEdgeKind::assumed);
      spread(in, source, block, is_left);
    }
  }

  const Disassembly& code_;
  const FlowHints& hints_;
  FlowGraph graph_;
};

template <class End>
EdgeIndex index_by(const FlowGraph& graph, End end) {
  EdgeIndex index;
  index.first.assign(graph.nodes() + 1, 0);
  for (const FlowEdge& edge : graph.edges) ++index.first[end(edge) + 1];
  for (size_t i = 1; i < index.first.size(); ++i) index.first[i] += index.first[i - 1];
  index.order.resize(graph.edges.size());
  std::vector<uint32_t> next(index.first.begin(), index.first.end() - 1);
  for (uint32_t i = 0; i < graph.edges.size(); ++i) index.order[next[end(graph.edges[i])]++] = i;
  return index;
}

}  // namespace

FlowGraph make_flow_graph(const Disassembly& code, const FlowHints& hints) {
  return GraphMaker(code, hints).make();
}

EdgeIndex index_sources(const FlowGraph& graph) {
  return index_by(graph, [](const FlowEdge& edge) { return edge.from; });
}

EdgeIndex index_targets(const FlowGraph& graph) {
  return index_by(graph, [](const FlowEdge& edge) { return edge.to; });
}

}  // namespace culprit
