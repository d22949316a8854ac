#pragma once

// StackFrames: whose frame an address of a thread's stack is in, by the calls that are under way.
//
//     main ( calls parse ( calls read          the stack grows down
//     end:  f000           ee80      ed00      an address of ee90 is in main's frame, one of
//                                              ed10 in parse's, one of ecf0 in read's
//
// A frame ends where the stack pointer was before the call; on x86-64 the return address is the
// callee's. Only the thread itself changes its frames; others may look at them meanwhile, and may
// then see a frame that has just begun or ended.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "simulate/machine/zeroed_array.h"
#include "simulate/objects/data_objects.h"

namespace culprit::counting {

class StackFrames {
 public:
  /// Calls under way. What is called from deeper has no frame that is known.
  static constexpr size_t kMost = 1 << 16;

  StackFrames(uint64_t begin, uint64_t end) : begin_(begin), end_(end), frames_(kMost + 1) {}

  [[nodiscard]] bool contains(uint64_t address) const {
    return address >= begin_.load(std::memory_order_relaxed) &&
           address < end_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool overlaps(uint64_t begin, uint64_t end) const {
    return begin < end_.load(std::memory_order_relaxed) &&
           begin_.load(std::memory_order_relaxed) < end;
  }
  /// The stack is no more, or another thread's.
  void forget() { end_.store(0, std::memory_order_relaxed); }

  /// As many calls are under way, now that one has begun. `end`: of its frame; 0: not known.
  void begin_call(size_t height, uint64_t end) {
    if (height <= kMost) {
      set(frames_[height].end, contains(end - 1) ? end : 0);
      set(frames_[height].layout, static_cast<const objects::FrameLayout*>(nullptr));
    }
    height_.store(height, std::memory_order_relaxed);
  }
  void end_calls(size_t height) { height_.store(height, std::memory_order_relaxed); }

  /// The call, from 1 on, whose frame has the address; 0: that is not known.
  [[nodiscard]] size_t find(uint64_t address) const {
    const size_t height = height_.load(std::memory_order_relaxed);
    size_t call = height < kMost ? height : kMost;
    while (call != 0 && get(frames_[call].end) <= address) --call;
    return call == kMost && height > kMost ? 0 : call;
  }
  [[nodiscard]] bool is_innermost(size_t call) const {
    return call == height_.load(std::memory_order_relaxed);
  }
  /// What its function has there; nullptr: nothing was noted yet.
  [[nodiscard]] const objects::FrameLayout* layout(size_t call) const {
    return get(frames_[call].layout);
  }
  void note_layout(size_t call, const objects::FrameLayout& layout) {
    set(frames_[call].layout, &layout);
  }
  /// The address from the frame's end on.
  [[nodiscard]] int64_t offset(size_t call, uint64_t address) const {
    return static_cast<int64_t>(address - get(frames_[call].end));
  }

 private:
  struct Frame {
    uint64_t end;
    const objects::FrameLayout* layout;
  };
  template <class T>
  static T get(const T& value) {
    return std::atomic_ref(const_cast<T&>(value)).load(std::memory_order_relaxed);
  }
  template <class T>
  static void set(T& to, T value) {
    std::atomic_ref(to).store(value, std::memory_order_relaxed);
  }

  std::atomic<uint64_t> begin_;
  std::atomic<uint64_t> end_;
  std::atomic<size_t> height_{0};
  simulate::ZeroedArray<Frame> frames_;  // by call
};

}  // namespace culprit::counting
