// pair: thread_totals
// advice: false_sharing
// repair: each thread's total has a line of its own
// options: --deterministic
//
// Two threads add to totals that are in one line.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef AFTER
typedef struct {
  volatile uint64_t total;
  char room[120];
} Total;
#else
typedef struct {
  volatile uint64_t total;
} Total;
#endif
static _Alignas(128) Total totals[2];

static uint64_t rounds;

static void* add(void* which) {
  Total* own = which;
  for (uint64_t i = 0; i < rounds; ++i) own->total += i & 7;  // here
  return NULL;
}

int main(int argc, char** argv) {
  const long repeats = argc > 1 ? atol(argv[1]) : 1;
  rounds = 100000 * (uint64_t)(repeats * repeats);
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, add, &totals[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  printf("%lu\n", (unsigned long)(totals[0].total + totals[1].total));
}
