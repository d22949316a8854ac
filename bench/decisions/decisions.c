// Programs before and after a known repair, for bench/simulated_decisions.py.
//
//   decisions                      the pairs, one a line: name, and the branch of the tree that is
//                                  to blame, or branches, with | between
//   decisions PAIR before|after    runs it, prints the nanoseconds of CPU that kernel_...() took
//
// Only kernel_...() is measured and modelled; what it works on is made before.

#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "../kernels/random.h"

enum { kPage = 4096, kHugePage = 1 << 21 };

static volatile uint64_t sink;
static void* memory;

// Pages of 4 KiB unless `huge`.
static void allocate_pages(size_t bytes, int huge) {
  memory = aligned_alloc(kHugePage, (bytes + kHugePage - 1) & ~(size_t)(kHugePage - 1));
  madvise(memory, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  memset(memory, 1, bytes);
}
static void allocate(size_t bytes) {
  allocate_pages(bytes, 0);
}

// ---- Loop order: a matrix walked by columns; by rows. ----
enum { kSide = 1024 };
static void make_matrix(int after) {
  (void)after;
  allocate(sizeof(double) * kSide * kSide);
}
static uint64_t kernel_loop_order(int after) {
  const double* matrix = memory;
  double sum = 0;
  for (int i = 0; i < kSide; ++i)
    for (int j = 0; j < kSide; ++j) sum += after ? matrix[i * kSide + j] : matrix[j * kSide + i];
  return (uint64_t)sum;
}

// ---- Padding: 48 lines a power of two apart, which fight for one set of L1D; 64 bytes more. ----
static void make_rows(int after) {
  (void)after;
  allocate(48 * (4096 + 64));
}
static uint64_t kernel_padding(int after) {
  const char* rows = memory;
  const size_t stride = after ? 4096 + 64 : 4096;
  uint64_t at = 0;
  for (int round = 0; round < 40000; ++round)
    for (size_t row = 0; row < 48; ++row)
      at += *(const volatile uint8_t*)(rows + row * stride + (at & 1));
  return at;
}

// ---- Blocking: a transposition; in blocks of 8 x 8. ----
static void make_two_matrices(int after) {
  (void)after;
  allocate(2 * sizeof(double) * kSide * kSide);
}
static uint64_t kernel_blocking(int after) {
  const double* from = memory;
  double* to = (double*)memory + kSide * kSide;
  const int side = after ? 8 : kSide;
  for (int rows = 0; rows < kSide; rows += side)
    for (int columns = 0; columns < kSide; columns += side)
      for (int i = rows; i < rows + side; ++i)
        for (int j = columns; j < columns + side; ++j) to[i * kSide + j] = from[j * kSide + i];
  return (uint64_t)to[5];
}

// ---- Fusion: four passes over an array that no cache holds; one pass. ----
enum { kLong = 6 << 20 };
static void make_array(int after) {
  (void)after;
  allocate(sizeof(uint64_t) * kLong);
}
static uint64_t kernel_fusion(int after) {
  uint64_t* values = memory;
  if (after) {
    for (int i = 0; i < kLong; ++i) values[i] = (((values[i] + 1) ^ 5) + 3) ^ 9;
  } else {
    for (int i = 0; i < kLong; ++i) values[i] += 1;
    __asm__ volatile("" ::: "memory");
    for (int i = 0; i < kLong; ++i) values[i] ^= 5;
    __asm__ volatile("" ::: "memory");
    for (int i = 0; i < kLong; ++i) values[i] += 3;
    __asm__ volatile("" ::: "memory");
    for (int i = 0; i < kLong; ++i) values[i] ^= 9;
  }
  return values[7];
}

// ---- Huge pages: random reads of 16 MiB. ----
enum { kReads = 1 << 21 };
static void make_pages(int after) {
  allocate_pages(16 << 20, after);
}
static uint64_t kernel_huge_pages(int after) {
  (void)after;
  const uint64_t* values = memory;
  uint64_t at = 1;
  for (int i = 0; i < kReads; ++i)
    at = (at + values[at & 0x1fffff]) * 6364136223846793005u + 1442695040888963407u, at ^= at >> 29;
  return at;
}

// ---- Sorting: a branch on random values; on the same values, sorted. ----
enum { kBytes = 1 << 16 };
static int compare_bytes(const void* a, const void* b) {
  return *(const uint8_t*)a - *(const uint8_t*)b;
}
static void make_bytes(int after) {
  allocate(kBytes);
  uint8_t* values = memory;
  for (int i = 0; i < kBytes; ++i) values[i] = (uint8_t)(next_random() >> 30);
  if (after) qsort(values, kBytes, 1, compare_bytes);
}
static uint64_t kernel_sorting(int after) {
  (void)after;
  const uint8_t* values = memory;
  uint64_t a = 0, b = 0;
  for (int i = 0; i < 30 * kBytes; ++i) {
    if (values[i & (kBytes - 1)] >= 128) {
      ++a;
    } else {
      b += 3;
    }
    __asm__ volatile("" : "+r"(a), "+r"(b));
  }
  return a + b;
}

// ---- Division: square roots, whose unit takes one at a time; multiplications. ----
static void make_small(int after) {
  (void)after;
  allocate(kPage);
}
static uint64_t kernel_division(int after) {
  const double* values = memory;
  double a = 1, b = 2, c = 3, d = 4;
  const double by = after ? 1 / 1.25 : 1.25;
  for (int i = 0; i < 1000000; ++i) {
    const double x = values[i & 63];
    if (after) {
      a = x * by, b = a * by, c = x * 2 * by, d = c * by;
    } else {
      a = x / by, b = a / by, c = x * 2 / by, d = c / by;
    }
    __asm__ volatile("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d));
  }
  return (uint64_t)(a + b + c + d);
}

// ---- Sharing: two threads count in one line; each in its own. ----
struct Counter {
  _Alignas(64) volatile uint64_t own;
  volatile uint64_t beside;
};
static struct Counter counters[2];
static __attribute__((noinline)) void* kernel_sharing_count(void* at) {
  volatile uint64_t* counter = at;
  for (int i = 0; i < 5000000; ++i) ++*counter;
  return NULL;
}
static uint64_t kernel_sharing(int after) {
  pthread_t other;
  volatile uint64_t* second = after ? &counters[1].own : &counters[0].beside;
  pthread_create(&other, NULL, kernel_sharing_count, (void*)second);
  kernel_sharing_count((void*)&counters[0].own);
  pthread_join(other, NULL);
  return counters[0].own;
}

// ---- Chains: one sum; four of them. ----
static uint64_t kernel_chains(int after) {
  const double* values = memory;
  double a = 0, b = 0, c = 0, d = 0;
  for (int i = 0; i < 4000000; i += 4) {
    const double* at = values + (i & 255);
    if (after) {
      a += at[0], b += at[1], c += at[2], d += at[3];
    } else {
      a += at[0], a += at[1], a += at[2], a += at[3];
    }
    __asm__ volatile("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d));
  }
  return (uint64_t)(a + b + c + d);
}

static const struct Pair {
  const char* name;
  const char* culprit;
  void (*prepare)(int after);
  uint64_t (*work)(int after);
} kPairs[] = {
    {"loop-order", "load_latency|bandwidth_saturation", make_matrix, kernel_loop_order},
    {"padding", "load_latency", make_rows, kernel_padding},
    {"blocking", "load_latency|bandwidth_saturation", make_two_matrices, kernel_blocking},
    {"fusion", "bandwidth_saturation", make_array, kernel_fusion},
    {"huge-pages", "load_latency", make_pages, kernel_huge_pages},
    {"sorting", "branch_misprediction", make_bytes, kernel_sorting},
    {"division", "instruction_latency", make_small, kernel_division},
    {"sharing", "load_latency", make_small, kernel_sharing},
    {"chains", "instruction_serialization", make_small, kernel_chains},
};

// CPU time: others may run on this machine.
static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(int argc, char** argv) {
  const size_t pairs = sizeof kPairs / sizeof *kPairs;
  if (argc == 1) {
    for (size_t i = 0; i < pairs; ++i) printf("%s %s\n", kPairs[i].name, kPairs[i].culprit);
    return 0;
  }
  for (size_t i = 0; argc == 3 && i < pairs; ++i) {
    if (strcmp(argv[1], kPairs[i].name) != 0) continue;
    const int after = strcmp(argv[2], "after") == 0;
    kPairs[i].prepare(after);
    const uint64_t begin = now_ns();
    sink = kPairs[i].work(after);
    printf("%llu\n", (unsigned long long)(now_ns() - begin));
    return 0;
  }
  fprintf(stderr, "decisions: PAIR before|after\n");
  return 2;
}
