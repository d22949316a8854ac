// pair: query_filter
// branch: branch_misprediction
// place: select_rows
// repair: the row is always written, and the comparison advances the end of the list
// decoy: the table streams from far caches, but prefetching it (-DDECOY) saves nothing
//
// Queries of a column store: each selects the rows of a column below a limit, then joins the
// prices of those rows. Which rows are selected is random.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

enum { kRows = 1 << 20, kQueries = 48, kGroups = 256 };

typedef struct {
  uint32_t *weight, *price;
  uint8_t* group;
} Table;

static uint32_t next_random(uint32_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  return *state ^= *state << 5;
}

static NOINLINE Table load_table(void) {
  uint32_t seed = 271828;
  Table table = {calloc(kRows, 4), calloc(kRows, 4), calloc(kRows, 1)};
  for (uint32_t i = 0; i < kRows; ++i) {
    table.weight[i] = next_random(&seed) % 1000;
    table.price[i] = i * 17 % 9973;
    table.group[i] = (uint8_t)(i / 64);
  }
  return table;
}

static NOINLINE size_t select_rows(const uint32_t* column, uint32_t limit, uint32_t* selected) {
  size_t count = 0;
  for (uint32_t i = 0; i < kRows; ++i) {
#ifdef DECOY
    __builtin_prefetch(&column[i + 256]);
#endif
#ifdef AFTER
    selected[count] = i;
    count += column[i] < limit;
#else
    if (column[i] < limit) selected[count++] = i;
#endif
  }
  return count;
}

static NOINLINE void sum_by_group(const Table* table, const uint32_t* selected, size_t count,
                                  uint64_t* sums) {
  for (size_t i = 0; i < count; ++i) {
    const uint32_t row = selected[i];
    sums[table->group[row]] += table->price[row];
  }
}

static NOINLINE uint64_t best_group(const uint64_t* sums) {
  uint64_t best = 0;
  for (int i = 0; i < kGroups; ++i) best = sums[i] > best ? sums[i] : best;
  return best;
}

int main(void) {
  const Table table = load_table();
  uint32_t* selected = calloc(kRows + 1, sizeof *selected);
  uint64_t sums[kGroups] = {0}, sum = 0;
  for (uint32_t query = 0; query < kQueries; ++query) {
    const size_t count = select_rows(table.weight, 300 + query * 8, selected);
    sum_by_group(&table, selected, count, sums);
    sum = sum * 31 + count + best_group(sums);
  }
  printf("%llu\n", (unsigned long long)sum);
  return 0;
}
