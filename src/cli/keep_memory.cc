#include "cli/keep_memory.h"

#include <limits>
#include <malloc.h>

namespace culprit {

void keep_freed_memory() {
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

void share_freed_memory() {
  keep_freed_memory();
  ::mallopt(M_ARENA_MAX, 1);
  constexpr int kStepBytes = 16 << 20;  // the heap grows by so much at once
  ::mallopt(M_TOP_PAD, kStepBytes);
}

void give_back_freed_memory() {
  ::malloc_trim(0);
}

}  // namespace culprit
