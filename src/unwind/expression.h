#pragma once

// DWARF expressions, as far as unwind tables use them: arithmetic on registers, the
// frame's CFA and memory. Procedure linkage tables and signal frames are written so.

#include <cstdint>
#include <elfutils/libdw.h>
#include <functional>
#include <optional>
#include <span>

#include "unwind/architecture.h"

namespace culprit {

/// A 64-bit word of the sampled process; nullopt: it was not copied.
using ReadWord = std::function<std::optional<uint64_t>(uint64_t address)>;

struct ExpressionInput {
  const Registers& registers;
  const ReadWord& read;
  std::optional<uint64_t> cfa;  // nullopt: the expression is to yield it
};

enum class ExpressionFailure : uint8_t { none, memory, damaged };

/// The value on top of the stack at the end. On nullopt `failure` says why: memory that was
/// not copied, or an operation that makes no sense here.
std::optional<uint64_t> compute_expression(std::span<const Dwarf_Op> operations,
                                           const ExpressionInput& input,
                                           ExpressionFailure& failure);

}  // namespace culprit
