// Adds one vector to another: the kernel of docs/manual.md and of tests/scan_test.py. The loop
// count is multiplied by 100, as in papers/parametric-evaluation.
#include <cstdlib>

int main(int, char** argv) {
  const long iterations = std::strtol(argv[1], nullptr, 10) * 100;
  volatile double one = 1;
  double a[DIM], b[DIM];
  for (int i = 0; i < DIM; ++i) a[i] = b[i] = one;
  asm volatile("" : "+m"(b));
  for (long n = 0; n < iterations; ++n) {
    asm volatile("" : "+m"(a));
    for (int i = 0; i < DIM; ++i) a[i] += b[i];
  }
  double sum = 0;
  for (int i = 0; i < DIM; ++i) sum += a[i];
  return sum > 0 ? 0 : 1;
}
