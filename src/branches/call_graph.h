#pragma once

// Who calls whom, and how often, by branch records: no instrumentation, no call stacks.

#include <cstdint>
#include <vector>

#include "attribute/code_index.h"
#include "model/profile.h"

namespace culprit {

struct CallGraph {
  /// A function, or all code of an image that has no names (function is CodePlace::kNone).
  struct Node {
    ImageId image;
    uint32_t function = CodePlace::kNone;
    uint64_t calls = 0;         // records of calls that arrive here
    uint64_t calls_made = 0;    // records of calls from here
    double share_of_event = 0;  // of the event's total [0 to 1]
  };
  struct Edge {
    size_t caller = 0;  // indices of nodes
    size_t callee = 0;
    uint64_t count = 0;  // records
  };
  std::vector<Node> nodes;  // by image and function
  std::vector<Edge> edges;  // by caller and callee
};

/// Calls as find_call_kind() tells them, tail calls included; and every function where
/// `event` counted something.
/// Units:  branch records [count]; multiply by BranchScale::per_branch for calls
CallGraph make_call_graph(CodeIndex& code, EventId event);

}  // namespace culprit
