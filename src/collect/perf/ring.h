#pragma once

// Ring: the shared memory through which the kernel hands over event records. The
// records are read where they are; only one that wraps around the end is copied.
//
// Rings of several CPUs are merged in the order of time by merge_rings(): what is
// older than `before_ns` is taken, the rest stays in the rings. Nothing older can
// turn up later if `before_ns` lies before the moment at which all rings were
// looked at, by more than writing a record takes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "records/record_layout.h"

namespace culprit {

class Ring {
 public:
  /// Maps the ring of an event: `data_bytes` is a power of two, at least a page.
  /// Error: errno_error(); the limit for locked memory is the usual reason.
  static Result<Ring> map(int event, size_t data_bytes);
  /// A ring in plain memory, laid out as the kernel's, for tests.
  explicit Ring(std::span<std::byte> memory);
  Ring(Ring&& other) noexcept;
  Ring& operator=(Ring&&) = delete;
  ~Ring();

  /// Sees what has been written until now.
  void look();
  /// The first record that was not taken yet; empty if there is none among what look() saw.
  /// Valid until the next call.
  std::span<const std::byte> front();
  void pop();
  [[nodiscard]] size_t size_bytes() const { return memory_.size(); }
  /// Gives the room of all that was popped back to the kernel.
  void release();

 private:
  std::span<std::byte> memory_;
  bool is_mapped_ = false;
  uint64_t head_ = 0;
  uint64_t tail_ = 0;
  uint64_t front_bytes_ = 0;
  std::vector<std::byte> joined_;
};

/// Hands over all records older than `before_ns` in the order of time, after look() on each ring.
void merge_rings(std::span<Ring* const> rings, const RecordLayout& layout, uint64_t before_ns,
                 const std::function<void(std::span<const std::byte>)>& take);

}  // namespace culprit
