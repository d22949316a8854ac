// pair: power_rows
// advice: pad_arrays
// repair: a row is a line longer
//
// Tiles of a matrix whose rows are 8 KiB apart, gone through by columns: a tile has 64 lines, which
// all fall into one set.
#include <stdio.h>
#include <stdlib.h>

#ifdef AFTER
enum { kPitch = 1024 + 8 };
#else
enum { kPitch = 1024 };
#endif
enum { kSide = 1024, kTileRows = 64, kRounds = 6 };

static __attribute__((noinline)) double sum_tiles(const double* a) {
  double sum = 0;
  __asm__ volatile("" ::: "memory");  // it is not pure: each call works
  for (int top = 0; top < kSide; top += kTileRows)
    for (int j = 0; j < kSide; ++j)
      for (int i = 0; i < kTileRows; ++i) sum += a[(long)(top + i) * kPitch + j];  // here
  return sum;
}

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? atoi(argv[1]) : 1;
  double* a = aligned_alloc(1 << 21, (size_t)10 << 20);
  for (int i = 0; i < kSide; ++i)
    for (int j = 0; j < kSide; ++j) a[(long)i * kPitch + j] = (i + j) % 3;
  double sum = 0;
  for (int round = 0; round < kRounds * repeats; ++round) sum += sum_tiles(a);
  printf("%.0f\n", sum);
}
