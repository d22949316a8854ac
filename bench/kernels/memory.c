// Kernels that wait for memory: by latency, bandwidth, translation, sets, stores.

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernels.h"
#include "random.h"

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

static NOINLINE uint64_t chase(uint64_t rounds) {
  char** at = memory;
  for (uint64_t i = 0; i < rounds; ++i) at = (char**)*at;
  return (uint64_t)at;
}

// The neighbour of the pointer first: the pointer's line is on its way then.
static NOINLINE uint64_t chase_fields(uint64_t rounds) {
  char** at = memory;
  uint64_t sum = 0, field;
  for (uint64_t i = 0; i < rounds; ++i) {
    __asm__ volatile("mov 8(%0), %1\n mov (%0), %0\n" : "+r"(at), "=&r"(field));
    sum += field;
  }
  return sum;
}

// A round is a line.
static NOINLINE uint64_t sum_lines(uint64_t rounds) {
  const uint64_t* values = memory;
  const uint64_t* const end = values + memory_bytes / 8;
  uint64_t sum = 0;
  for (uint64_t i = 0; i < rounds; ++i) {
    for (int word = 0; word < 8; ++word) {
      sum += values[word];
      __asm__ volatile("" : "+r"(sum));
    }
    values = values + 8 == end ? memory : values + 8;
  }
  return sum;
}

// Values through a slot on the stack.
static NOINLINE uint64_t slot_chain(uint64_t rounds) {
  LOOP(FOUR("mov %%rax, -64(%%rsp)\n mov -64(%%rsp), %%rax\n add $1, %%rax\n"));
  return 0;
}
static NOINLINE uint64_t slot_double(uint64_t rounds) {
  LOOP(FOUR("movsd %%xmm0, -64(%%rsp)\n movsd -64(%%rsp), %%xmm0\n"));
  return 0;
}
static NOINLINE uint64_t slot_half(uint64_t rounds) {
  LOOP(FOUR("mov %%rax, -64(%%rsp)\n mov -60(%%rsp), %%eax\n"));
  return 0;
}
// A load of what two stores wrote.
static NOINLINE uint64_t forward_refused(uint64_t rounds) {
  LOOP("movq %%xmm0, -64(%%rsp)\n movq %%xmm0, -56(%%rsp)\n movups -64(%%rsp), %%xmm0\n");
  return 0;
}
static NOINLINE uint64_t forward_refused_words(uint64_t rounds) {
  LOOP("mov %%eax, -64(%%rsp)\n mov %%eax, -60(%%rsp)\n mov -64(%%rsp), %%rax\n");
  return 0;
}
// Each load is 4096 bytes before a store that has not left yet.
static NOINLINE uint64_t slot_alias(uint64_t rounds) {
  __asm__ volatile("mov %0, %%rdi\n lea 4096(%0), %%rsi\n xor %%ecx, %%ecx\n" ::"r"(memory)
                   : "rcx", "rdi", "rsi");
  LOOP(FOUR("mov %%rcx, 64(%%rsi)\n mov 64(%%rdi), %%rax\n add %%rax, %%rdi\n"));
  return 0;
}
static NOINLINE uint64_t chase_indexed(uint64_t rounds) {
  __asm__ volatile("mov %0, %%rdi\n xor %%eax, %%eax\n" ::"r"(memory) : "rax", "rdi");
  LOOP(FOUR("mov (%%rdi,%%rax,8), %%rax\n"));
  return 0;
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

static void small(void) {
  allocate(8192);
}
static void zeros(void) {
  allocate(8192);
  memset(memory, 0, 8192);
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
static void array_512k(void) {
  allocate(512 << 10);
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

const struct Kernel kMemory[] = {
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
    {"stores-l1", array_16k, stores},
    {"stores-memory", array_48m, stores},
    {"conflicts", array_1m, conflicts},
    {"histogram", make_64k_random_bytes, histogram},
    {"chase-64m-huge", chase_64m_huge, chase},
    {"chase-fields", chase_4m, chase_fields},
    {"stream-l2", array_512k, sum_lines},
    {"stream-memory", array_48m, sum_lines},
    {"slot-chain", nothing, slot_chain},
    {"slot-double", nothing, slot_double},
    {"slot-half", nothing, slot_half},
    {"slot-alias", zeros, slot_alias},
    {"forward-refused", nothing, forward_refused},
    {"forward-refused-words", nothing, forward_refused_words},
    {"chase-l1-indexed", zeros, chase_indexed},
    {0},
};
