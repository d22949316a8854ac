#pragma once

// The control-flow graph of one function. Its nodes are the blocks of the disassembly, and two
// more for all that is outside.
//
//     entry ──> [12a0 test; je] ──> [12a5 inc] ──┐
//                     └───────────────────────── ┴─> [12a8 ret] ──> exit
//
// Every node is on a way from the entry to the exit: what no known edge reaches is entered from
// outside (landing pads, targets of unknown jumps), and endless loops are left where they go round.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "attribute/disassembly.h"

namespace culprit {

enum class FlowEdgeKind : uint8_t {
  entry,    // of the function
  fall,     // to the block behind
  jump,     // by the block's last instruction
  leave,    // a return, a tail call, a trap, a call that does not return
  assumed,  // nothing in the code says so: see above
};

struct FlowEdge {
  uint32_t from = 0;
  uint32_t to = 0;
  FlowEdgeKind kind = FlowEdgeKind::fall;
  friend bool operator==(const FlowEdge&, const FlowEdge&) = default;
};

struct FlowGraph {
  uint32_t blocks = 0;          // nodes [0, blocks)
  std::vector<FlowEdge> edges;  // by (from, to), each pair once
  /// Blocks whose last instruction jumps to who knows where. Flow there need not be conserved.
  std::vector<uint32_t> unresolved;

  [[nodiscard]] uint32_t entry() const { return blocks; }
  [[nodiscard]] uint32_t exit() const { return blocks + 1; }
  [[nodiscard]] uint32_t nodes() const { return blocks + 2; }
};

/// Where an indirect jump is known to go to.
struct JumpTarget {
  LinkAddress from;
  LinkAddress to;
  bool is_complete = false;  // the jump has no targets that are not listed
};

struct FlowHints {
  std::span<const JumpTarget>
      targets;                   // by `from`; one that is complete says so of all of its jump
  bool has_all_targets = false;  // an indirect jump has no others
  /// Whether the call never comes back; none: all do.
  std::function<bool(const Instruction&)> never_returns;
};

FlowGraph make_flow_graph(const Disassembly& code, const FlowHints& hints = {});

/// Edges by one of their ends: those of node `n` are order[first[n]] to order[first[n + 1]].
struct EdgeIndex {
  std::vector<uint32_t> first;
  std::vector<uint32_t> order;
  [[nodiscard]] std::span<const uint32_t> of(uint32_t node) const {
    return std::span(order).subspan(first[node], first[node + 1] - first[node]);
  }
};
EdgeIndex index_sources(const FlowGraph& graph);  // of() gives the edges out of a node
EdgeIndex index_targets(const FlowGraph& graph);  // into it

}  // namespace culprit
