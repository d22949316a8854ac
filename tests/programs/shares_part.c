// gamma of shares.c, as a shared library: -DNAME=library_gamma or plugin_gamma.
#include <stdint.h>

uint64_t NAME(uint64_t n) {
  uint64_t x = 6;
  for (uint64_t i = 0; i < n; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    __asm__ volatile("" : "+r"(x));
  }
  return x;
}
