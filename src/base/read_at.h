#pragma once

// Reading at a place of a file that others may write at the same time.

#include <cstddef>
#include <cstdint>
#include <unistd.h>

namespace culprit {

/// Reads `bytes` bytes at `offset` into what `to` points to; false if the file does not have them
/// all: what lies beyond its end stays as it is.
inline bool read_at(int fd, void* to, size_t bytes, uint64_t offset) {
  char* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = ::pread(fd, at, bytes, static_cast<off_t>(offset));
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<size_t>(got);
    offset += static_cast<uint64_t>(got);
  }
  return true;
}

}  // namespace culprit
