// Loops whose cost is known, each a function of its own; bench/known_cycles.py compares what the
// analysis of stalls says of them.
//
//     known_cycles time     ns of a round of each loop, the least of nine runs, by CPU time
//     known_cycles run      each loop once, for a profile
//
// A loop's instructions stand between "1:" and its jump; its rounds are in %0. %rdi, %rsi: memory.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char* small;      // 4 KiB, warm
static char *from, *to;  // 32 MiB each
static uint64_t *near_ring, *l2_ring, *far_ring;
enum { kBig = 32 << 20 };

#define LOOP(name, setup, body)                                                                    \
  __attribute__((noinline)) void name(long rounds) {                                               \
    __asm__ volatile(setup "\n.p2align 6\n1:\n" body "\n sub $1, %0\n jne 1b\n"                    \
                     : "+r"(rounds)                                                                \
                     : "r"(small), "r"(near_ring)                                                  \
                     : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", \
                       "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "memory", "cc");                    \
  }
#define REPEAT(n, text) ".rept " #n "\n" text "\n.endr\n"
#define ONES "mov $3, %%rax\n mov $5, %%rcx\n"
#define FLOATS "mov $0x3ff0000000000000, %%rax\n movq %%rax, %%xmm0\n movq %%rax, %%xmm1\n"
#define HOME "mov %1, %%rdi\n mov %2, %%rsi\n"

LOOP(add_chain, ONES, REPEAT(20, "add %%rcx, %%rax"))
LOOP(imul_chain, ONES, REPEAT(20, "imul %%rcx, %%rax"))
LOOP(lea_chain, ONES, REPEAT(20, "lea 1(%%rax,%%rcx,2), %%rax"))
LOOP(cmov_chain, ONES, REPEAT(20, "cmp %%rcx, %%rax\n cmovb %%rcx, %%rax"))
LOOP(popcnt_chain, ONES, REPEAT(20, "popcnt %%rax, %%rax"))
LOOP(crc32_chain, ONES, REPEAT(20, "crc32q %%rcx, %%rax"))
LOOP(mul_chain, ONES, REPEAT(20, "mul %%rcx"))
LOOP(div_chain, "mov $5, %%ecx\n", REPEAT(10, "xor %%edx, %%edx\n mov $1000, %%ax\n div %%rcx"))
LOOP(addsd_chain, FLOATS, REPEAT(20, "addsd %%xmm1, %%xmm0"))
LOOP(mulsd_chain, FLOATS, REPEAT(20, "mulsd %%xmm1, %%xmm0"))
LOOP(divsd_chain, FLOATS, REPEAT(20, "divsd %%xmm1, %%xmm0"))
LOOP(sqrtsd_chain, FLOATS, REPEAT(20, "sqrtsd %%xmm0, %%xmm0"))
LOOP(paddd_chain, FLOATS, REPEAT(20, "paddd %%xmm1, %%xmm0"))
LOOP(load_chain, HOME, REPEAT(20, "mov (%%rsi), %%rsi"))
LOOP(indexed_chain, HOME "xor %%ecx, %%ecx\n", REPEAT(20, "mov (%%rsi,%%rcx,8), %%rsi"))
LOOP(cvt_chain, ONES, REPEAT(20, "cvtsi2sd %%rax, %%xmm0\n cvttsd2si %%xmm0, %%rax"))
LOOP(lock_add, HOME, REPEAT(20, "lock addq $1, (%%rdi)"))
LOOP(four_adds, ONES,
     REPEAT(10, "add %%rcx, %%rax\n add %%rcx, %%rdx\n add %%rcx, %%r8\n add %%rcx, %%r9"))
LOOP(nops, ONES, REPEAT(60, "nop"))
LOOP(three_loads, HOME, REPEAT(10, "mov (%%rdi), %%r8\n mov 8(%%rdi), %%r9\n mov 16(%%rdi), %%r10"))
LOOP(two_stores, HOME, REPEAT(10, "mov %%rax, (%%rdi)\n mov %%rax, 8(%%rdi)"))
LOOP(four_addsd, FLOATS "movq %%rax, %%xmm2\n movq %%rax, %%xmm3\n movq %%rax, %%xmm4\n",
     REPEAT(5,
            "addsd %%xmm1, %%xmm0\n addsd %%xmm1, %%xmm2\n addsd %%xmm1, %%xmm3\n addsd %%xmm1, "
            "%%xmm4"))
// Slow instructions among independent additions: samples land behind them.
#define AMONG(slow)                                                                       \
  slow "\n add $1, %%r8\n add $1, %%r9\n add $1, %%r10\n add $1, %%r11\n add $1, %%rdx\n" \
       "add $1, %%rbx\n add $1, %%rcx\n add $1, %%r8\n"
LOOP(sqrt_among, FLOATS, AMONG("sqrtsd %%xmm0, %%xmm0"))
LOOP(divsd_among, FLOATS, AMONG("divsd %%xmm1, %%xmm0"))
LOOP(lock_among, HOME, AMONG("lock addq $1, (%%rdi)"))
// A branch that is taken, taken, not, not: every predictor of today knows it.
LOOP(ttnn, "xor %%eax, %%eax\n", "add $1, %%eax\n test $2, %%eax\n je 2f\n add $1, %%rcx\n2:\n")
LOOP(always_taken, "xor %%eax, %%eax\n",
     "test %%eax, %%eax\n je 2f\n add $1, %%rcx\n2: add $1, %%rdx\n")

static __attribute__((noinline)) void chase(uint64_t* at, long rounds) {
  for (long i = 0; i < rounds; ++i) at = (uint64_t*)*at;
  __asm__ volatile("" ::"r"(at));
}
__attribute__((noinline)) void l2_chase(long rounds) {
  uint64_t* at = l2_ring;
  __asm__ volatile(
      "1: mov (%0), %0\n add $1, %%r8\n add $1, %%r9\n add $1, %%r10\n add $1, %%r11\n"
      "sub $1, %1\n jne 1b"
      : "+r"(at), "+r"(rounds)::"r8", "r9", "r10", "r11", "cc");
}
__attribute__((noinline)) void dram_chase(long rounds) {
  uint64_t* at = far_ring;
  __asm__ volatile(
      "1: mov (%0), %0\n add $1, %%r8\n add $1, %%r9\n add $1, %%r10\n add $1, %%r11\n"
      "sub $1, %1\n jne 1b"
      : "+r"(at), "+r"(rounds)::"r8", "r9", "r10", "r11", "cc");
}
/// DCPI's: its stores wait for their loads, the store buffer, translation.
__attribute__((noinline)) void copy(long rounds) {
  const char* source = from;
  char* target = to;
  __asm__ volatile(
      "1: mov (%0), %%r8\n mov 8(%0), %%r9\n mov 16(%0), %%r10\n mov 24(%0), %%r11\n"
      "add $32, %0\n mov %%r8, (%1)\n mov %%r9, 8(%1)\n mov %%r10, 16(%1)\n"
      "mov %%r11, 24(%1)\n add $32, %1\n sub $1, %2\n jne 1b"
      : "+r"(source), "+r"(target), "+r"(rounds)::"r8", "r9", "r10", "r11", "memory", "cc");
}
__attribute__((noinline)) void stream(long rounds) {
  const char* source = from;
  __asm__ volatile("1: add (%0), %%r8\n add $8, %0\n sub $1, %1\n jne 1b"
                   : "+r"(source), "+r"(rounds)::"r8", "cc");
}

/// A random ring of `lines` lines; the same one in every run.
static uint64_t* make_ring(size_t lines) {
  char* block = aligned_alloc(1 << 21, lines * 64 < 1 << 21 ? 1 << 21 : lines * 64);
  uint32_t* order = malloc(lines * sizeof *order);
  uint64_t state = 1;
  for (size_t i = 0; i < lines; ++i) order[i] = (uint32_t)i;
  for (size_t i = lines - 1; i > 0; --i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const size_t j = (state >> 33) % i;
    const uint32_t kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
  for (size_t i = 0; i < lines; ++i)
    *(uint64_t*)(block + order[i] * 64ul) = (uint64_t)(block + order[(i + 1) % lines] * 64ul);
  free(order);
  return (uint64_t*)block;
}

static const struct {
  const char* name;
  void (*run)(long);
  long rounds;  // some 50 ms on a CPU of 4 GHz
} kLoops[] = {
    {"add_chain", add_chain, 9000000},
    {"imul_chain", imul_chain, 3000000},
    {"lea_chain", lea_chain, 4500000},
    {"cmov_chain", cmov_chain, 4500000},
    {"popcnt_chain", popcnt_chain, 9000000},
    {"crc32_chain", crc32_chain, 3000000},
    {"mul_chain", mul_chain, 3000000},
    {"div_chain", div_chain, 1500000},
    {"addsd_chain", addsd_chain, 3000000},
    {"mulsd_chain", mulsd_chain, 3000000},
    {"divsd_chain", divsd_chain, 800000},
    {"sqrtsd_chain", sqrtsd_chain, 450000},
    {"paddd_chain", paddd_chain, 9000000},
    {"load_chain", load_chain, 2300000},
    {"indexed_chain", indexed_chain, 1800000},
    {"cvt_chain", cvt_chain, 800000},
    {"lock_add", lock_add, 1200000},
    {"four_adds", four_adds, 18000000},
    {"nops", nops, 18000000},
    {"three_loads", three_loads, 18000000},
    {"two_stores", two_stores, 18000000},
    {"four_addsd", four_addsd, 12000000},
    {"sqrt_among", sqrt_among, 9000000},
    {"divsd_among", divsd_among, 14000000},
    {"lock_among", lock_among, 20000000},
    {"ttnn", ttnn, 90000000},
    {"always_taken", always_taken, 90000000},
    {"l2_chase", l2_chase, 13000000},
    {"dram_chase", dram_chase, 1000000},
    {"copy", copy, kBig / 32},
    {"stream", stream, kBig / 8},
};
enum { kCount = sizeof kLoops / sizeof kLoops[0] };

static double cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/// How often a loop of the profile runs: those over big memory are short.
static long repeats(size_t i) {
  return kLoops[i].run == copy || kLoops[i].run == stream ? 8 : 1;
}

int main(int count, char** words) {
  small = aligned_alloc(4096, 4096);
  memset(small, 0, 4096);
  near_ring = make_ring(64);
  l2_ring = make_ring(256 << 10 >> 6);
  far_ring = make_ring(64 << 20 >> 6);
  from = aligned_alloc(1 << 21, kBig);
  to = aligned_alloc(1 << 21, kBig);
  memset(from, 1, kBig);
  memset(to, 2, kBig);
  chase(near_ring, 64);
  const int is_timing = count > 1 && strcmp(words[1], "time") == 0;
  for (size_t i = 0; i < kCount; ++i) {
    if (!is_timing) {
      for (long j = 0; j < repeats(i); ++j) kLoops[i].run(kLoops[i].rounds);
      continue;
    }
    double least = 1e300;
    for (int run = 0; run < 9; ++run) {
      const long rounds = kLoops[i].run == copy || kLoops[i].run == stream ? kLoops[i].rounds
                                                                           : kLoops[i].rounds / 4;
      const double begin = cpu_ns();
      kLoops[i].run(rounds);
      const double ns = (cpu_ns() - begin) / (double)rounds;
      if (ns < least) least = ns;
    }
    printf("%s %.6f\n", kLoops[i].name, least);
  }
  return 0;
}
