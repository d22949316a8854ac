// pair: transpose
// advice: block_loops
// repair: tiles of 8 x 8, of which each line is used up while it is there
//
// A transposed copy: one side runs along the lines, the other one steps over as many as there are
// rows, whichever loop is the inner one.
#include <stdio.h>
#include <stdlib.h>

#ifndef SIDE
#define SIDE 1400
#endif
enum { kSide = SIDE, kTile = 8 };

static __attribute__((noinline)) void transpose(double* to, const double* from) {
#ifdef AFTER
  for (int top = 0; top < kSide; top += kTile)
    for (int left = 0; left < kSide; left += kTile)
      for (int i = top; i < top + kTile; ++i)
        for (int j = left; j < left + kTile; ++j)
          to[(long)j * kSide + i] = from[(long)i * kSide + j];
#else
  for (int i = 0; i < kSide; ++i)
    for (int j = 0; j < kSide; ++j) to[(long)j * kSide + i] = from[(long)i * kSide + j];  // here
#endif
}

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? atoi(argv[1]) : 1;
  double* from = malloc(sizeof *from * kSide * kSide);
  double* to = malloc(sizeof *to * kSide * kSide);
  for (long i = 0; i < (long)kSide * kSide; ++i) from[i] = (double)(i % 7);
  for (int round = 0; round < 3 * repeats; ++round) transpose(to, from);
  printf("%.0f\n", to[5] + to[(long)kSide * kSide - 3]);
}
