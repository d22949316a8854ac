// pair: column_sums
// advice: swap_loops
// repair: the inner loop runs along the rows
//
// Sums of the columns of a matrix, column by column: each visit is of another line, and a column
// has more lines than L1D.
#include <stdio.h>
#include <stdlib.h>

#ifndef ROUNDS
#define ROUNDS 4
#endif
enum { kRows = 1200, kColumns = 1208, kRounds = ROUNDS };

static __attribute__((noinline)) void sum_columns(const double* a, double* sums) {
#ifdef AFTER
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) sums[j] += a[(long)i * kColumns + j];
#else
  for (int j = 0; j < kColumns; ++j) {
    double sum = sums[j];
    for (int i = 0; i < kRows; ++i) sum += a[(long)i * kColumns + j];  // here
    sums[j] = sum;
  }
#endif
}

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? atoi(argv[1]) : 1;
  double* a = malloc(sizeof *a * kRows * kColumns);
  double* sums = calloc(kColumns, sizeof *sums);
  for (long i = 0; i < (long)kRows * kColumns; ++i) a[i] = (double)(i % 7);
  for (int round = 0; round < kRounds * repeats; ++round) sum_columns(a, sums);
  printf("%.0f\n", sums[0] + sums[kColumns - 1]);
}
