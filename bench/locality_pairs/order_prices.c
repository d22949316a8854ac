// pair: order_prices
// advice: split_layout
// repair: the two fields that are read are arrays of their own
//
// Reports read 8 of the 64 bytes of each order.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kOrders = 200000, kReports = 30 };

typedef struct {
  uint64_t id, customer;
  int32_t price, quantity;
  char note[40];
} Order;

static Order* orders;
static int32_t *prices, *quantities;

static __attribute__((noinline)) int64_t sum_orders(void) {
  int64_t sum = 0;
  __asm__ volatile("" ::: "memory");  // it is not pure: each call works
#ifdef AFTER
  for (int i = 0; i < kOrders; ++i) sum += (int64_t)prices[i] * quantities[i];
#else
  for (int i = 0; i < kOrders; ++i) sum += (int64_t)orders[i].price * orders[i].quantity;  // here
#endif
  return sum;
}

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? atoi(argv[1]) : 1;
  orders = calloc(kOrders, sizeof *orders);
  prices = malloc(kOrders * sizeof *prices);
  quantities = malloc(kOrders * sizeof *quantities);
  for (int i = 0; i < kOrders; ++i) {
    orders[i].id = (uint64_t)i;
    orders[i].price = prices[i] = i % 97;
    orders[i].quantity = quantities[i] = i % 5;
  }
  int64_t sum = 0;
  for (int i = 0; i < kReports * repeats; ++i) sum += sum_orders();
  printf("%ld\n", (long)sum);
}
