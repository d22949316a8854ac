#include "base/heap.h"

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace culprit {

void ask_for_large_pages(std::span<std::byte> bytes) {
  constexpr uintptr_t kPage = 4096;
  const auto address = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t begin = (address + kPage - 1) / kPage * kPage;
  const uintptr_t end = (address + bytes.size()) / kPage * kPage;
  if (end > begin) ::madvise(bytes.data() + (begin - address), end - begin, MADV_HUGEPAGE);
}

void put_heap_in_large_pages() {
  constexpr int kReserved = 512 << 20;
  constexpr int kInHeap = 32 << 20;     // the most that glibc takes
  constexpr int kUsualPad = 128 << 10;  // glibc's
  ::mallopt(M_MMAP_THRESHOLD, kInHeap);
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  // The heap grows by so much at once. Sanitizers have a heap of their own, and where memory is
  // limited it may not grow at all.
  auto* const before = static_cast<std::byte*>(::sbrk(0));
  ::mallopt(M_TOP_PAD, kReserved);
  void* volatile more = std::malloc(kInHeap / 2);  // else a compiler leaves it out
  ::mallopt(M_TOP_PAD, kUsualPad);
  auto* const after = static_cast<std::byte*>(::sbrk(0));
  if (after > before) ask_for_large_pages({before, after});
  std::free(more);
}

void put_large_blocks_in_heap() {
  ::mallopt(M_MMAP_MAX, 0);
}

void share_heap_among_threads() {
  put_large_blocks_in_heap();
  ::mallopt(M_ARENA_MAX, 1);
  constexpr int kStepBytes = 16 << 20;  // the heap grows by so much at once
  ::mallopt(M_TOP_PAD, kStepBytes);
}

void give_back_freed_memory() {
  ::malloc_trim(0);
}

}  // namespace culprit
