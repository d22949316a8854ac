#pragma once

// What kinds of accesses there are, so that QEMU is asked once per kind: each question is a
// call through its plugin interface.

#include <array>
#include <cstdint>

#include "simulate/plugin/qemu_api.h"

namespace culprit {

struct AccessShape {
  qemu_plugin_meminfo_t info = ~qemu_plugin_meminfo_t{0};
  uint32_t bytes = 1;
  bool is_store = false;
};

/// A direct-mapped table of them.
class AccessShapes {
 public:
  const AccessShape& find(qemu_plugin_meminfo_t info) {
    AccessShape& shape = shapes_[(info >> 4 ^ info >> 12) % shapes_.size()];
    if (shape.info != info) [[unlikely]] {
      shape = {info, 1U << qemu_plugin_mem_size_shift(info), qemu_plugin_mem_is_store(info)};
    }
    return shape;
  }

 private:
  std::array<AccessShape, 64> shapes_{};
};

}  // namespace culprit
