#pragma once

#include <cstdint>

namespace culprit::counting {

/// What a system call of the program does to its thread's turn: what tells the thread's sleep from
/// that of an engine's own locks, and whether threads come or go.
struct AnnouncedCall {
  bool is_futex = false;
  uint64_t address = 0;  // of the futex, in this process
  bool ends_thread = false;
  bool starts_thread = false;  // unless it fails
};

}  // namespace culprit::counting
