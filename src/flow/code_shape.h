#pragma once

// The shape of a function's code: what stays the same where it is called otherwise or lies
// elsewhere.

#include <cstdint>
#include <optional>

#include "attribute/disassembly.h"
#include "flow/flow_graph.h"

namespace culprit {

/// A hash of the blocks, the ways between them, and how many instructions of which class (`mov`,
/// `add`, a branch, ...) each has: not of addresses, registers, constants, the order of blocks and
/// of instructions within them, or which way of a branch falls through.
/// `code`: with texts; `graph`: of the same blocks.
/// Shape:  nullopt of what is too small to be told apart, or has bytes that are no code
/// Errors: different functions may have one: what several have tells nothing
/// Source: B. Weisfeiler, A. Leman (1968): nodes take their neighbours' colours, over and over; as
///         BOLT's matching of stale profiles
std::optional<uint64_t> hash_code_shape(const Disassembly& code, const FlowGraph& graph);

}  // namespace culprit
