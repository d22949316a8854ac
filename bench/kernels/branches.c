// Kernels of branches, calls and code that does not fit.

#include "kernels.h"

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
// The same of values that come from far.
static NOINLINE uint64_t branches_far(uint64_t rounds) {
  const uint8_t* values = memory;
  const uint64_t mask = memory_bytes - 1;
  uint64_t at = 1, a = 0, b = 0;
  for (uint64_t i = 0; i < rounds; ++i) {
    at = at * 6364136223846793005u + 1442695040888963407u;
    if (values[at >> 20 & mask] >= 128) {
      ++a;
    } else {
      b += 3;
    }
    __asm__ volatile("" : "+r"(a), "+r"(b));
  }
  return a + b;
}
// As many turns as a value has bits.
static NOINLINE uint64_t count_bits(uint64_t rounds) {
  const uint8_t* values = memory;
  const uint64_t mask = memory_bytes - 1;
  uint64_t count = 0;
  for (uint64_t i = 0; i < rounds; ++i) {
    for (uint64_t left = values[i & mask]; left != 0; left &= left - 1) {
      ++count;
      __asm__ volatile("" : "+r"(left));
    }
  }
  return count;
}
static void make_4m_random_bytes(void) {
  allocate_random(1 << 22);
}
static void make_1k_random_bytes(void) {
  allocate_random(1 << 10);
}
// So many random branches a predictor learns by heart in part.
static void make_few_random_bytes(void) {
  allocate_random(1 << 14);
}
static void make_8k_random_bytes(void) {
  allocate_random(1 << 13);
}
// And of 65,536 some; of so many none.
static void make_many_random_bytes(void) {
  allocate_random(1 << 20);
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

// Straight code of 256 KiB.
static NOINLINE uint64_t straight_code(uint64_t rounds) {
  for (uint64_t i = 0; i < rounds; i += 65536)
    __asm__ volatile(
        ".rept 16384\n add $1, %%eax\n add $1, %%ebx\n add $1, %%ecx\n lea 1(%%rdx,%%rsi), %%r8\n "
        ".endr" ::
            : "rax", "rbx", "rcx", "r8", "cc");
  return 0;
}

const struct Kernel kBranches[] = {
    {"branches-random", make_many_random_bytes, branches},
    {"branches-periodic", make_periodic_bytes, branches},
    {"branches-16k", make_few_random_bytes, branches},
    {"branches-8k", make_8k_random_bytes, branches},
    {"branches-l3", make_4m_random_bytes, branches_far},
    {"popcount-1k", make_1k_random_bytes, count_bits},
    {"popcount-64k", make_64k_random_bytes, count_bits},
    {"deep-calls", nothing, deep_calls},
    {"indirect-random", make_64k_random_bytes, indirect},
    {"straight-code", nothing, straight_code},
    {0},
};
