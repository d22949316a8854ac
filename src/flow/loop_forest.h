#pragma once

// The loops of a control-flow graph, and which is in which.
//
//     for (i...)            loop 0, head 2, depth 1
//       for (j...)          loop 1, head 3, depth 2, parent 0
//
// Where a loop can be entered at several blocks (it is irreducible), the first that a walk from
// the entry meets is its head.

#include <cstdint>
#include <optional>
#include <vector>

#include "flow/flow_graph.h"

namespace culprit {

struct FlowLoop {
  uint32_t head = 0;               // block
  uint32_t last = 0;               // the block of it, or of loops in it, that is farthest on
  std::optional<uint32_t> parent;  // loop
  uint32_t depth = 1;              // outermost: 1
  bool is_irreducible = false;
  bool is_innermost = true;
};

struct LoopForest {
  std::vector<FlowLoop> loops;                     // by head: an outer one is before those in it
                                                   // unless it is irreducible
  std::vector<std::optional<uint32_t>> innermost;  // loop, by block

  [[nodiscard]] bool is_inside(uint32_t block, uint32_t loop) const;
};

/// Units:  -> loops
/// Errors: none; takes nearly linear time
/// Source: P. Havlak, Nesting of Reducible and Irreducible Loops, ACM TOPLAS 19:4 (1997), as
///         R. E. Tarjan, Testing Flow Graph Reducibility, JCSS 9 (1974), where it is reducible
LoopForest find_loops(const FlowGraph& graph);

}  // namespace culprit
