// The shared library and the plugin of chains.cc: PART is "library" or "plugin".

#include <cstdint>

#define APART __attribute__((noipa))
#define JOIN_INNER(a, b) a##b
#define JOIN(a, b) JOIN_INNER(a, b)

// As in chains.cc.
#define WITH_FRAME asm volatile("" ::: "rbx")

namespace {
volatile uint64_t sink;
}

extern "C" {

APART void JOIN(leaf_, PART)(uint64_t rounds) {
  WITH_FRAME;
  uint64_t x = sink | 1;
  for (uint64_t i = 0; i < rounds; ++i) x ^= x << 13, x ^= x >> 7;
  sink = x;
}
// Goes through the linkage table once more: the name is visible.
APART void JOIN(PART, _inner)(uint64_t rounds) {
  JOIN(leaf_, PART)(rounds);
  asm volatile("" ::: "memory");
}
APART void JOIN(PART, _enter)(uint64_t rounds) {
  JOIN(PART, _inner)(rounds);
  asm volatile("" ::: "memory");
}
APART uint64_t leaf_linkage(uint64_t x) {
  WITH_FRAME;
  return x * 3 + 1;
}

}  // extern "C"
