/* A program of OpenMP constructs whose bodies sleep, so that how long each takes depends on no
 * CPU. It measures itself what it slept, and prints it:
 *
 *   WHAT THREAD SECONDS
 *
 * constructs CASE [NAP_MS] */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kThreads = 4 };
static double nap_s = 0.02;
static double slept[8][kThreads];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Sleeps so many naps, and writes down how long that took. */
static void nap(int what, double naps) {
  const double start = now();
  const double s = nap_s * naps;
  struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};
  nanosleep(&t, NULL);
#pragma omp atomic
  slept[what][omp_get_thread_num()] += now() - start;
}

/* Writes down how long the thread has waited since `start`. */
static void waited(int what, double start) {
#pragma omp atomic
  slept[what][omp_get_thread_num()] += now() - start;
}

static void print(int what, const char* name) {
  for (int i = 0; i < kThreads; ++i) printf("%s %d %.9f\n", name, i, slept[what][i]);
}

static void critical(void) {
#pragma omp parallel num_threads(kThreads)
  {
    const double start = now();
#pragma omp critical
    {
      waited(1, start);
      nap(0, 1);
    }
  }
  print(0, "critical");
  print(1, "enter");
}

static void named(void) {
#pragma omp parallel num_threads(kThreads)
  {
#pragma omp critical(first)
    {
      nap(0, 1);
    }
#pragma omp critical(second)
    {
      nap(1, 1);
    }
  }
  print(0, "first");
  print(1, "second");
}

static void loop(void) {
#pragma omp parallel num_threads(kThreads)
  {
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 8; ++i) nap(0, i < 4 ? 1 : 0.5);
  }
  print(0, "loop");
}

static void guided(void) {
#pragma omp parallel for num_threads(kThreads) schedule(guided)
  for (int i = 0; i < 16; ++i) nap(0, 0.5);
  print(0, "loop");
}

static void static_loop(void) {
#pragma omp parallel num_threads(kThreads)
  {
#pragma omp for schedule(static)
    for (int i = 0; i < kThreads; ++i) nap(0, i + 1);
  }
  print(0, "loop");
}

static void sections(void) {
#pragma omp parallel num_threads(kThreads)
  {
#pragma omp sections
    {
#pragma omp section
      nap(0, 1);
#pragma omp section
      nap(0, 3);
    }
  }
  print(0, "sections");
}

static void single(void) {
#pragma omp parallel num_threads(kThreads)
  {
#pragma omp single
    nap(0, 2);
  }
  print(0, "single");
}

static void barrier(void) {
#pragma omp parallel num_threads(kThreads)
  {
    nap(0, omp_get_thread_num());
    const double start = now();
#pragma omp barrier
    waited(2, start);
    nap(1, 1);
  }
  print(0, "before");
  print(1, "after");
  print(2, "wait");
}

static void lock(void) {
  omp_lock_t mutex;
  omp_init_lock(&mutex);
#pragma omp parallel num_threads(kThreads)
  {
    const double start = now();
    omp_set_lock(&mutex);
    waited(1, start);
    nap(0, 1);
    omp_unset_lock(&mutex);
  }
  omp_destroy_lock(&mutex);
  print(0, "lock");
  print(1, "enter");
}

static void ordered(void) {
#pragma omp parallel for num_threads(kThreads) ordered schedule(static, 1)
  for (int i = 0; i < kThreads; ++i) {
    const double start = now();
#pragma omp ordered
    {
      waited(1, start);
      nap(0, 1);
    }
  }
  print(0, "ordered");
  print(1, "enter");
}

static void tasks(void) {
#pragma omp parallel num_threads(kThreads)
  {
#pragma omp single
    {
      for (int i = 0; i < 8; ++i) {
#pragma omp task
        nap(0, 1);
      }
#pragma omp taskwait
      nap(1, 1);
    }
  }
  print(0, "task");
  print(1, "single");
}

/* Tasks that the barrier at the region's end runs. */
static void late_tasks(void) {
#pragma omp parallel num_threads(kThreads)
#pragma omp single nowait
  for (int i = 0; i < 8; ++i) {
#pragma omp task
    nap(0, 1);
  }
  print(0, "task");
}

/* Such tasks, which have a task and a region of their own. */
static void late_inside(void) {
#pragma omp parallel num_threads(kThreads)
#pragma omp single nowait
  for (int i = 0; i < kThreads; ++i) {
#pragma omp task
    {
      nap(0, 1);
#pragma omp task
      nap(1, 1);
#pragma omp taskwait
#pragma omp parallel num_threads(1)
      nap(2, 1);
    }
  }
  print(0, "outer");
  print(1, "inner");
  print(2, "region");
}

static void taskloop(void) {
#pragma omp parallel num_threads(kThreads)
  {
#pragma omp single
    {
#pragma omp taskloop num_tasks(8)
      for (int i = 0; i < 16; ++i) nap(0, 0.5);
    }
  }
  print(0, "task");
}

static void master(void) {
#pragma omp parallel num_threads(kThreads)
  {
#pragma omp master
    nap(0, 2);
  }
  print(0, "master");
}

static void nested(void) {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  {
#pragma omp parallel num_threads(2)
    {
      nap(0, 1);
    }
  }
  print(0, "nested");
}

static void often(void) {
  for (int i = 0; i < 5; ++i) {
#pragma omp parallel num_threads(kThreads)
    nap(0, 0.25 * (1 + omp_get_thread_num()));
    nap(1, 1); /* serial: nobody's waiting */
  }
  print(0, "parallel");
}

int main(int count, char** words) {
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {{"critical", critical},  {"named", named},        {"loop", loop},
               {"guided", guided},      {"static", static_loop}, {"sections", sections},
               {"single", single},      {"barrier", barrier},    {"lock", lock},
               {"ordered", ordered},    {"tasks", tasks},        {"late", late_tasks},
               {"inside", late_inside}, {"taskloop", taskloop},  {"master", master},
               {"nested", nested},      {"often", often}};
  if (count < 2) return 2;
  if (count > 2) nap_s = atof(words[2]) / 1000;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    if (strcmp(cases[i].name, words[1]) != 0) continue;
    const double start = now();
    cases[i].run();
    printf("whole 0 %.9f\n", now() - start);
    return 0;
  }
  return 2;
}
