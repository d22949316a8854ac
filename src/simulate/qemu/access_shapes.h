// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

// What kinds of accesses there are, so that QEMU is asked once per kind: each question is a call
// through its plugin interface.

#include <atomic>
#include <cstdint>

#include "simulate/counting/thread.h"
#include "simulate/qemu/qemu_api.h"

namespace culprit {

/// A direct-mapped table of them, for all threads.
class AccessShapes {
 public:
  counting::AccessShape find(qemu_plugin_meminfo_t info) {
    std::atomic<uint64_t>& entry = entries_[(info >> 4 ^ info >> 12) % kEntries];
    uint64_t known = entry.load(std::memory_order_relaxed);
    if ((known & ~kAnswer) != (uint64_t{info} << 32 | kKnown)) [[unlikely]] {
      known = ask(info);
      entry.store(known, std::memory_order_relaxed);
    }
    return {1U << (known & kShift), (known & kStore) != 0};
  }

  /// An atomic operation loads what it stores, and once a process has several threads QEMU shows
  /// it once. Its interface tells stores only: behind the operand (16 bits) stands 1 for a load, 2
  /// for a store, and 3 for both.
  static bool loads_too(qemu_plugin_meminfo_t info) { return (info >> 16 & 3) == 3; }

 private:
  static constexpr uint64_t kShift = 0xff;  // log2 of bytes
  static constexpr uint64_t kStore = 0x100;
  static constexpr uint64_t kAnswer = 0x1ff;
  static constexpr uint64_t kKnown = 0x200;  // an entry that is filled is not 0
  static constexpr size_t kEntries = 64;

  [[gnu::noinline]] static uint64_t ask(qemu_plugin_meminfo_t info) {
    const uint64_t store = qemu_plugin_mem_is_store(info) ? kStore : 0;
    return uint64_t{info} << 32 | store | qemu_plugin_mem_size_shift(info) | kKnown;
  }

  std::atomic<uint64_t> entries_[kEntries]{};
};

}  // namespace culprit
