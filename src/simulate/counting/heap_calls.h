#pragma once

// HeapCalls: the calls of allocating functions that a thread has under way. Only the outermost
// matters: operator new calls malloc, and both mean one block.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "simulate/objects/data_objects.h"

namespace culprit::counting {

class HeapCalls {
 public:
  struct Call {
    objects::Allocator allocator;
    uint64_t stack_pointer = 0;  // at its first instruction
    uint64_t return_address = 0;
    uint64_t size_bytes = 0;
    uint64_t block = 0;  // that it is handed, or where it puts one
    const uint64_t* registers = nullptr;
    std::array<uint32_t, objects::DataObjects::kLongestPath> callers{};
    size_t caller_count = 0;
    objects::ObjectNumber allocator_object = objects::kNothing;  // once it was asked for

    /// Sites of the calls that led to it, the innermost first.
    [[nodiscard]] std::span<const uint32_t> path() const {
      return std::span(callers).first(caller_count);
    }
  };

  [[nodiscard]] bool is_inside() const { return is_inside_; }
  [[nodiscard]] const Call& call() const { return call_; }
  [[nodiscard]] Call& call() { return call_; }

  /// False: it is called by one that is under way.
  bool enter(const Call& call) {
    // One that was left by a jump has its frame where the stack is free again.
    if (is_inside_ && call_.stack_pointer > call.stack_pointer) return false;
    call_ = call;
    is_inside_ = true;
    return true;
  }
  /// Whether a block that begins at `address` is what the call returns to. The stack pointer is
  /// where it was, or above the return address that was there.
  [[nodiscard]] bool returns_to(uint64_t address, uint64_t stack_pointer) const {
    return address == call_.return_address && stack_pointer >= call_.stack_pointer &&
           stack_pointer <= call_.stack_pointer + 8;
  }
  void leave() { is_inside_ = false; }

 private:
  Call call_;
  bool is_inside_ = false;
};

}  // namespace culprit::counting
