#include "simulate/machine/zeroed_array.h"

#include <cstdint>
#include <cstring>
#include <sys/mman.h>

namespace culprit::simulate {

void* allocate_zeroed(size_t bytes) {
  constexpr size_t kLarge = size_t{1} << 14;
  if (bytes < kLarge) return std::calloc(1, bytes);
  auto* const memory = static_cast<char*>(std::malloc(bytes));
  if (memory == nullptr) return nullptr;
  constexpr uintptr_t kPage = 4096;
  const size_t before = -reinterpret_cast<uintptr_t>(memory) % kPage;
  const size_t pages = (bytes - before) / kPage * kPage;
  // Private memory that is given back reads as zeros. Where pages are larger the kernel refuses.
  if (::madvise(memory + before, pages, MADV_DONTNEED) != 0) {
    return std::memset(memory, 0, bytes);
  }
  std::memset(memory, 0, before);
  std::memset(memory + before + pages, 0, bytes - before - pages);
  return memory;
}

}  // namespace culprit::simulate
