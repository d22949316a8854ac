#pragma once

// ZeroedArray: a fixed number of zeroed values (there is one even of none) whose pages are taken
// only when touched, so that a simulated cache of half a gigabyte costs what the program uses of
// it.

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <type_traits>

#include "base/result.h"

namespace culprit::simulate {

/// Zeroed memory, for std::free(); nullptr: there is none. Pages that another owner has left behind
/// are given back to the kernel, and not cleared.
void* allocate_zeroed(size_t bytes);

template <class T>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  ZeroedArray() = default;
  explicit ZeroedArray(size_t count)
      : values_(static_cast<T*>(allocate_zeroed((count == 0 ? 1 : count) * sizeof(T)))),
        size_(count) {
    CHECK(values_ != nullptr);
  }

  T& operator[](size_t index) { return values_.get()[index]; }
  const T& operator[](size_t index) const { return values_.get()[index]; }
  [[nodiscard]] T* data() { return values_.get(); }
  [[nodiscard]] const T* data() const { return values_.get(); }
  [[nodiscard]] size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(T* values) const { std::free(values); }
  };
  std::unique_ptr<T, Free> values_;
  size_t size_ = 0;
};

}  // namespace culprit::simulate
