/* Constructs whose bodies read as many doubles as their names say: what is counted in each is known
 * by hand. Everything else reads none. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile double values[64];

__attribute__((always_inline)) static inline void read_values(int times) {
  for (int i = 0; i < times; ++i) (void)values[i & 63];
}

int main(int count, char** words) {
  const int threads = count > 1 ? atoi(words[1]) : 4;
  omp_set_num_threads(threads);
  omp_lock_t lock;
  omp_init_lock(&lock);
  read_values(3);

#pragma omp parallel
  {
    read_values(100);
#pragma omp critical
    read_values(10);
#pragma omp barrier
    read_values(5);
#pragma omp single
    read_values(7);
  }

#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 10)
    for (int i = 0; i < 1000; ++i) read_values(1);
#pragma omp sections
    {
#pragma omp section
      read_values(20);
#pragma omp section
      read_values(21);
    }
    omp_set_lock(&lock);
    read_values(4);
    omp_unset_lock(&lock);
  }

#pragma omp parallel for schedule(guided)
  for (int i = 0; i < 300; ++i) read_values(2);

#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 20; ++i) {
#pragma omp task
      read_values(6);
    }
#pragma omp taskwait
  }

  read_values(8);
  printf("done\n");
  return 0;
}
