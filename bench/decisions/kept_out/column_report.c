// pair: column_report
// branch: load_latency
// place: sum_columns
// repair: the table is read row by row, and all columns are summed at once
//
// Sums the columns of a table of measurements, kept row by row. Down a column each value is on
// another page, more of them than the TLB holds, and no prefetcher follows.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

enum { kRows = 5000, kColumns = 1100, kReports = 16 };

static uint32_t next_random(uint32_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  return *state ^= *state << 5;
}

static NOINLINE void measure(int32_t* table) {
  uint32_t seed = 577;
  for (size_t i = 0; i < (size_t)kRows * kColumns; ++i)
    table[i] = (int32_t)(next_random(&seed) % 4000) - 1000;
}

static NOINLINE void sum_columns(const int32_t* table, int64_t* sums) {
#ifdef AFTER
  for (int column = 0; column < kColumns; ++column) sums[column] = 0;
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < kColumns; ++column)
      sums[column] += table[(size_t)row * kColumns + column];
#else
  for (int column = 0; column < kColumns; ++column) {
    int64_t sum = 0;
    for (int row = 0; row < kRows; ++row) sum += table[(size_t)row * kColumns + column];
    sums[column] = sum;
  }
#endif
}

// Takes the drift of the sensors out: each row follows the mean of the rows before it.
static NOINLINE void correct_drift(int32_t* table) {
  int32_t drift = 0;
  for (int row = 0; row < kRows; ++row) {
    int32_t* values = table + (size_t)row * kColumns;
    int64_t sum = 0;
    for (int column = 0; column < kColumns; ++column) {
      sum += values[column];
      values[column] -= drift >> 6;
    }
    drift += (int32_t)(sum / kColumns) - (drift >> 3);
  }
}

static NOINLINE uint64_t rank_columns(const int64_t* sums) {
  uint64_t result = 0;
  for (int i = 0; i < kColumns; ++i) {
    uint64_t rank = 0;
    for (int k = 0; k < kColumns; ++k) rank += sums[k] < sums[i];
    result = result * 31 + rank;
  }
  return result;
}

int main(void) {
  int32_t* table = calloc((size_t)kRows * kColumns, sizeof *table);
  int64_t* sums = calloc(kColumns, sizeof *sums);
  uint64_t sum = 0;
  measure(table);
  for (int report = 0; report < kReports; ++report) {
    sum_columns(table, sums);
    sum = sum * 31 + rank_columns(sums);
    correct_drift(table);
  }
  printf("%llu\n", (unsigned long long)sum);
  return 0;
}
