// Kernels that stress one thing each, for bench/simulated_time.py.
//
//   kernels                  the names
//   kernels NAME ROUNDS      runs it, prints the nanoseconds that it took
//
// Only the kernel is measured and modelled; what it works on is made before.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "random.h"

#define NOINLINE __attribute__((noinline))
typedef uint64_t (*Kernel)(uint64_t rounds);

static void* memory;
static size_t memory_bytes;
static volatile uint64_t sink;

static void allocate(size_t bytes) {
  memory_bytes = bytes;
  memory = aligned_alloc(1 << 21, (bytes + (1 << 21) - 1) & ~(size_t)((1 << 21) - 1));
  memset(memory, 1, bytes);
}

// One cycle through all lines of `memory` in random order (Sattolo).
static void link_lines(size_t bytes) {
  const size_t lines = bytes / 64;
  uint32_t* order = malloc(lines * sizeof *order);
  for (size_t i = 0; i < lines; ++i) order[i] = (uint32_t)i;
  for (size_t i = lines - 1; i > 0; --i) {
    const size_t j = next_random() % i;
    const uint32_t swapped = order[i];
    order[i] = order[j];
    order[j] = swapped;
  }
  char* base = memory;
  for (size_t i = 0; i < lines; ++i)
    *(char**)(base + order[i] * 64ul) = base + order[(i + 1) % lines] * 64ul;
  free(order);
}
static void make_chase(size_t bytes) {
  allocate(bytes);
  link_lines(bytes);
}

#define LOOP(body)                                                                                 \
  __asm__ volatile(".p2align 6\n1:\n" body "dec %0\n jnz 1b\n"                                     \
                   : "+r"(rounds)                                                                  \
                   :                                                                               \
                   : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "xmm0", "xmm1", "xmm2", \
                     "xmm3", "xmm4", "cc", "memory")
#define FOUR(text) text text text text

static NOINLINE uint64_t dependent_adds(uint64_t rounds) {
  LOOP(FOUR("add %%rax, %%rax\n"));
  return 0;
}
static NOINLINE uint64_t four_chains(uint64_t rounds) {
  LOOP(FOUR("add %%rax, %%rax\n add %%rbx, %%rbx\n add %%rcx, %%rcx\n add %%rdx, %%rdx\n"));
  return 0;
}
static NOINLINE uint64_t multiply_chain(uint64_t rounds) {
  LOOP(FOUR("imul %%rax, %%rax\n"));
  return 0;
}
static NOINLINE uint64_t multiply_throughput(uint64_t rounds) {
  LOOP(
      "imul $3, %%rsi, %%rax\n imul $3, %%rsi, %%rbx\n imul $3, %%rsi, %%rcx\n imul $3, %%rsi, "
      "%%rdx\n");
  return 0;
}
static NOINLINE uint64_t divide_chain(uint64_t rounds) {
  __asm__ volatile("mov $7, %%rcx\n" ::: "rcx");
  LOOP(
      "xor %%edx, %%edx\n mov $1000000007, %%rax\n add %%rcx, %%rax\n mov $7, %%rcx\n div %%rcx\n "
      "mov %%rax, %%rcx\n and $7, %%rcx\n");
  return 0;
}
static NOINLINE uint64_t fp_add_chain(uint64_t rounds) {
  LOOP(FOUR("addsd %%xmm1, %%xmm0\n"));
  return 0;
}
static NOINLINE uint64_t fp_multiply_throughput(uint64_t rounds) {
  LOOP(
      "mulsd %%xmm0, %%xmm1\n mulsd %%xmm0, %%xmm2\n mulsd %%xmm0, %%xmm3\n mulsd %%xmm0, "
      "%%xmm4\n");
  return 0;
}
static NOINLINE uint64_t sqrt_chain(uint64_t rounds) {
  LOOP("sqrtsd %%xmm0, %%xmm0\n");
  return 0;
}

static NOINLINE uint64_t chase(uint64_t rounds) {
  char** at = memory;
  for (uint64_t i = 0; i < rounds; ++i) at = (char**)*at;
  return (uint64_t)at;
}

static NOINLINE uint64_t sum_l1(uint64_t rounds) {
  const uint64_t* values = memory;
  uint64_t a = 0, b = 0, c = 0, d = 0;
  for (uint64_t i = 0; i < rounds; ++i) {
    const uint64_t* at = values + (i * 4 & 1023);
    a += at[0], b += at[1], c += at[2], d += at[3];
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
  }
  return a + b + c + d;
}

static NOINLINE uint64_t triad(uint64_t rounds) {
  const size_t n = memory_bytes / 24;
  double* a = memory;
  const double *b = a + n, *c = b + n;
  for (uint64_t done = 0; done < rounds; done += n)
    for (size_t i = 0; i < n; ++i) a[i] = b[i] + 3.0 * c[i];
  return 0;
}

static NOINLINE uint64_t gather(uint64_t rounds) {
  const uint64_t* values = memory;
  const uint64_t mask = memory_bytes / 8 - 1;
  uint64_t at = 1, sum = 0;
  for (uint64_t i = 0; i < rounds; ++i) {
    at = at * 6364136223846793005u + 1442695040888963407u;
    sum += values[(at >> 20) & mask];
  }
  return sum;
}

enum { kRows = 1024 };
static NOINLINE uint64_t matvec_rows(uint64_t rounds) {
  const double* matrix = memory;
  static double x[kRows], y[kRows];
  for (uint64_t done = 0; done < rounds; done += kRows * kRows)
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kRows; ++j) y[i] += matrix[i * kRows + j] * x[j];
  return (uint64_t)y[3];
}
static NOINLINE uint64_t matvec_columns(uint64_t rounds) {
  const double* matrix = memory;
  static double x[kRows], y[kRows];
  for (uint64_t done = 0; done < rounds; done += kRows * kRows)
    for (int j = 0; j < kRows; ++j)
      for (int i = 0; i < kRows; ++i) y[i] += matrix[i * kRows + j] * x[j];
  return (uint64_t)y[3];
}

// A branch on each value: above half or not.
static NOINLINE uint64_t branches(uint64_t rounds) {
  const uint8_t* values = memory;
  const uint64_t mask = memory_bytes - 1;
  uint64_t a = 0, b = 0;
  for (uint64_t i = 0; i < rounds; ++i) {
    if (values[i & mask] >= 128) {
      ++a;
    } else {
      b += 3;
    }
    __asm__ volatile("" : "+r"(a), "+r"(b));
  }
  return a + b;
}
static void fill_with_random_bytes(size_t bytes) {
  allocate(bytes);
  uint8_t* values = memory;
  for (size_t i = 0; i < memory_bytes; ++i) values[i] = (uint8_t)(next_random() >> 30);
}
// So many random branches a predictor learns by heart in part.
static void make_few_random_bytes(void) {
  fill_with_random_bytes(1 << 14);
}
static void make_random_bytes(void) {
  fill_with_random_bytes(1 << 16);
}
// And of 65,536 some; of so many none.
static void make_many_random_bytes(void) {
  fill_with_random_bytes(1 << 20);
}
static void make_periodic_bytes(void) {
  allocate(1 << 16);
  uint8_t* values = memory;
  for (size_t i = 0; i < memory_bytes; ++i) values[i] = i % 4 == 0 ? 200 : 10;
}

static NOINLINE uint64_t descend(uint64_t depth) {
  __asm__ volatile("");
  return depth == 0 ? 0 : 1 + descend(depth - 1);
}
static NOINLINE uint64_t deep_calls(uint64_t rounds) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < rounds; i += 100) sum += descend(100);
  return sum;
}

static NOINLINE uint64_t indirect(uint64_t rounds) {
  const uint8_t* values = memory;
  const uint64_t mask = memory_bytes - 1;
  static void* const kTargets[] = {&&one, &&two, &&three, &&four};
  uint64_t sum = 0;
  for (uint64_t i = 0; i < rounds; ++i) {
    goto* kTargets[values[i & mask] & 3];
  one:
    sum += 1;
    continue;
  two:
    sum += 22;
    continue;
  three:
    sum ^= 333;
    continue;
  four:
    sum -= 4;
  }
  return sum;
}

static NOINLINE uint64_t stores(uint64_t rounds) {
  uint64_t* values = memory;
  const uint64_t mask = memory_bytes / 8 - 1;
  for (uint64_t i = 0; i < rounds; ++i) {
    values[i & mask] = i;
    __asm__ volatile("" ::: "memory");
  }
  return 0;
}
// A line each 4096 bytes: 64 of them fight for a set of L1D.
static NOINLINE uint64_t conflicts(uint64_t rounds) {
  const char* values = memory;
  uint64_t sum = 0;
  for (uint64_t i = 0; i < rounds; ++i)
    sum += *(const volatile uint64_t*)(values + (i & 63) * 4096);
  return sum;
}
static NOINLINE uint64_t histogram(uint64_t rounds) {
  const uint8_t* values = memory;
  static uint32_t counts[256];
  for (uint64_t i = 0; i < rounds; ++i) ++counts[values[i & 0xffff]];
  return counts[3];
}

// Straight code of 256 KiB.
static NOINLINE uint64_t straight_code(uint64_t rounds) {
  for (uint64_t i = 0; i < rounds; i += 65536)
    __asm__ volatile(
        ".rept 16384\n add $1, %%eax\n add $1, %%ebx\n add $1, %%ecx\n lea 1(%%rdx,%%rsi), %%r8\n "
        ".endr" ::
            : "rax", "rbx", "rcx", "r8", "cc");
  return 0;
}

static void nothing(void) {}
static void small(void) {
  allocate(8192);
}
static void chase_16k(void) {
  make_chase(16 << 10);
}
static void chase_512k(void) {
  make_chase(512 << 10);
}
// What virtual machines have of their host's L3 may be little.
static void chase_4m(void) {
  make_chase(4 << 20);
}
static void chase_64m(void) {
  make_chase(64 << 20);
}
static void chase_64m_huge(void) {
  memory = aligned_alloc(1 << 21, 64 << 20);
  madvise(memory, 64 << 20, MADV_HUGEPAGE);
  link_lines(64 << 20);
}
static void array_16k(void) {
  allocate(16 << 10);
}
static void array_1m(void) {
  allocate(1 << 20);
}
static void array_4m(void) {
  allocate(4 << 20);
}
static void array_8m(void) {
  allocate(8 << 20);
}
static void array_48m(void) {
  allocate(48 << 20);
}

static const struct {
  const char* name;
  void (*prepare)(void);
  Kernel kernel;
} kKernels[] = {
    {"dependent-adds", nothing, dependent_adds},
    {"four-chains", nothing, four_chains},
    {"multiply-chain", nothing, multiply_chain},
    {"multiply-throughput", nothing, multiply_throughput},
    {"divide-chain", nothing, divide_chain},
    {"fp-add-chain", nothing, fp_add_chain},
    {"fp-multiply-throughput", nothing, fp_multiply_throughput},
    {"sqrt-chain", nothing, sqrt_chain},
    {"chase-l1", chase_16k, chase},
    {"chase-l2", chase_512k, chase},
    {"chase-l3", chase_4m, chase},
    {"chase-64m", chase_64m, chase},
    {"sum-l1", small, sum_l1},
    {"triad-l1", array_16k, triad},
    {"triad-l2", array_1m, triad},
    {"triad-memory", array_48m, triad},
    {"gather-l2", array_1m, gather},
    {"gather-l3", array_4m, gather},
    {"matvec-rows", array_8m, matvec_rows},
    {"matvec-columns", array_8m, matvec_columns},
    {"branches-random", make_many_random_bytes, branches},
    {"branches-periodic", make_periodic_bytes, branches},
    {"deep-calls", nothing, deep_calls},
    {"indirect-random", make_random_bytes, indirect},
    {"stores-l1", array_16k, stores},
    {"stores-memory", array_48m, stores},
    {"conflicts", array_1m, conflicts},
    {"histogram", make_random_bytes, histogram},
    {"straight-code", nothing, straight_code},
    {"branches-16k", make_few_random_bytes, branches},
    {"chase-64m-huge", chase_64m_huge, chase},
};

// CPU time: others may run on this machine.
static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc == 1) {
    for (size_t i = 0; i < sizeof kKernels / sizeof *kKernels; ++i) puts(kKernels[i].name);
    return 0;
  }
  for (size_t i = 0; i < sizeof kKernels / sizeof *kKernels; ++i) {
    if (argc < 3 || strcmp(argv[1], kKernels[i].name) != 0) continue;
    kKernels[i].prepare();
    const uint64_t rounds = strtoull(argv[2], NULL, 10);
    const uint64_t begin = now_ns();
    sink = kKernels[i].kernel(rounds);
    printf("%llu\n", (unsigned long long)(now_ns() - begin));
    return 0;
  }
  fprintf(stderr, "kernels: no kernel of that name\n");
  return 2;
}
