// pair: column_scan
// branch: bandwidth_saturation
// place: sum_revenue
// repair: the two fields that a report reads are columns of their own, not parts of 64-byte rows
//
// Reports over orders: each reads 8 of the 64 bytes of every row in turn. The prefetcher runs
// ahead of it, and moves 45 MB for each report.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

enum { kOrders = 700000, kReports = 100, kRegions = 64 };

typedef struct {
  uint64_t id, customer;
  int32_t price, quantity;
  int32_t region, discount;
  char note[32];
} Order;

typedef struct {
  Order* rows;
#ifdef AFTER
  int32_t *price, *quantity;
#endif
} Table;

static uint32_t next_random(uint32_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  return *state ^= *state << 5;
}

static NOINLINE Table load_orders(void) {
  uint32_t seed = 4711;
  Table table = {.rows = calloc(kOrders, sizeof(Order))};
  for (uint32_t i = 0; i < kOrders; ++i) {
    Order* order = &table.rows[i];
    order->id = i;
    order->customer = next_random(&seed) % 50000;
    order->price = (int32_t)(next_random(&seed) % 10000);
    order->quantity = 1 + (int32_t)(i % 9);
    order->region = (int32_t)(order->customer % kRegions);
    order->discount = (int32_t)(i % 30);
  }
#ifdef AFTER
  table.price = calloc(kOrders, sizeof(int32_t));
  table.quantity = calloc(kOrders, sizeof(int32_t));
  for (uint32_t i = 0; i < kOrders; ++i) {
    table.price[i] = table.rows[i].price;
    table.quantity[i] = table.rows[i].quantity;
  }
#endif
  return table;
}

static NOINLINE int64_t sum_revenue(const Table* table, int32_t rate) {
  int64_t revenue = 0;
  for (int i = 0; i < kOrders; ++i) {
#ifdef AFTER
    const int64_t price = table->price[i], quantity = table->quantity[i];
#else
    const int64_t price = table->rows[i].price, quantity = table->rows[i].quantity;
#endif
    revenue += price * quantity * rate;
  }
  return revenue;
}

static NOINLINE void sum_by_region(const Table* table, int64_t* regions) {
  for (int i = 0; i < kOrders; ++i)
    regions[table->rows[i].region] += table->rows[i].price - table->rows[i].discount;
}

// Smooths what the regions sold, to forecast the next quarter.
static NOINLINE int64_t forecast(int64_t* regions) {
  int64_t total = 0;
  for (int round = 0; round < 6000; ++round)
    for (int i = 1; i + 1 < kRegions; ++i) {
      regions[i] = (regions[i - 1] + 2 * regions[i] + regions[i + 1]) >> 2;
      total += regions[i] & 0xff;
    }
  return total;
}

int main(void) {
  const Table table = load_orders();
  int64_t regions[kRegions] = {0};
  uint64_t sum = 0;
  for (int report = 0; report < kReports; ++report) {
    sum = sum * 31 + (uint64_t)sum_revenue(&table, 100 - report);
    if (report % 10 == 0) {
      sum_by_region(&table, regions);
      sum += (uint64_t)forecast(regions);
    }
  }
  printf("%llu\n", (unsigned long long)sum);
  return 0;
}
