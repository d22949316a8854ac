/* Kernels of loads and stores. */

#include <stdlib.h>

#include "validate/kernels/kernels.h"

static uint64_t next_random(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/* `count` places, `step` bytes apart, hold a pointer each: one cycle through all of them in random
 * order (Sattolo's). `spreads`: each on another line of its page, as by chance, so that sets of
 * caches get as many of them. */
static void link_places(size_t count, size_t step, int spreads) {
  uint32_t* order = malloc(count * sizeof *order);
  for (size_t i = 0; i < count; ++i) order[i] = (uint32_t)i;
  for (size_t i = count - 1; i > 0; --i) {
    const size_t j = next_random() % i;
    const uint32_t swapped = order[i];
    order[i] = order[j];
    order[j] = swapped;
  }
  char* const base = memory;
#define PLACE(i) (base + order[i] * step + (spreads ? order[i] * 2654435761u >> 26 : 0) * 64)
  for (size_t i = 0; i < count; ++i) *(char**)PLACE(i) = PLACE((i + 1) % count);
#undef PLACE
  free(order);
}
static void make_chase(size_t bytes) {
  allocate(bytes);
  link_places(bytes / 64, 64, 0);
}
/* One line of each page. */
static void make_page_chase(size_t bytes) {
  allocate_in_small_pages(bytes);
  link_places(bytes / 4096, 4096, 1);
}
static void make_array(size_t bytes) {
  allocate(bytes);
}
static void make_slots(size_t bytes) {
  (void)bytes;
  allocate(16384);
}

#if defined(__x86_64__)

static void loads(uint64_t rounds) {
  LOOP(EIGHT("mov (%1), %%rax\n"), "r"(memory));
}
static void stores(uint64_t rounds) {
  LOOP(EIGHT("mov %%rax, (%1)\n"), "r"(memory));
}
static void chase(uint64_t rounds) {
  __asm__ volatile("mov %0, %%rax\n" ::"r"(memory) : "rax");
  LOOP("mov (%%rax), %%rax\n");
}
/* A round is a line: eight words of it, then the next; at the end from the start. */
static void stream(uint64_t rounds) {
  __asm__ volatile("xor %%ecx, %%ecx\n" ::: "rcx");
  LOOP(
      "lea (%1, %%rcx), %%r8\n add (%%r8), %%rax\n add 8(%%r8), %%rax\n add 16(%%r8), %%rax\n"
      "add 24(%%r8), %%rax\n add 32(%%r8), %%rax\n add 40(%%r8), %%rax\n add 48(%%r8), %%rax\n"
      "add 56(%%r8), %%rax\n add $64, %%rcx\n and %2, %%rcx\n",
      "r"(memory), "r"(memory_bytes - 1));
}
static void fill(uint64_t rounds) {
  __asm__ volatile("xor %%ecx, %%ecx\n" ::: "rcx");
  LOOP(
      "lea (%1, %%rcx), %%r8\n mov %%rax, (%%r8)\n mov %%rax, 8(%%r8)\n mov %%rax, 16(%%r8)\n"
      "mov %%rax, 24(%%r8)\n mov %%rax, 32(%%r8)\n mov %%rax, 40(%%r8)\n mov %%rax, 48(%%r8)\n"
      "mov %%rax, 56(%%r8)\n add $64, %%rcx\n and %2, %%rcx\n",
      "r"(memory), "r"(memory_bytes - 1));
}
/* Loads that do not wait for each other, at random places (a linear congruential generator). */
static void gather(uint64_t rounds) {
  __asm__ volatile("mov $1, %%ecx\n" ::: "rcx");
  LOOP(
      "imul %3, %%rcx\n add $1013904223, %%rcx\n mov %%rcx, %%r8\n shr $20, %%r8\n and %2, %%r8\n"
      "add (%1, %%r8), %%rax\n",
      "r"(memory), "r"((memory_bytes - 1) & ~(uint64_t)7), "r"(6364136223846793005u));
}
/* A line each 4096 bytes: they fight for one set of L1D. */
static void one_set(uint64_t rounds) {
  __asm__ volatile("xor %%ecx, %%ecx\n" ::: "rcx");
  LOOP("mov (%1, %%rcx), %%rax\n add $4096, %%rcx\n and %2, %%rcx\n", "r"(memory),
       "r"(memory_bytes - 1));
}
static void refused(uint64_t rounds) {
  LOOP("mov %%eax, (%1)\n mov %%eax, 4(%1)\n mov (%1), %%rax\n", "r"(memory));
}
static void aliases(uint64_t rounds) {
  __asm__ volatile("xor %%ecx, %%ecx\n mov %0, %%r8\n" ::"r"(memory) : "rcx", "r8");
  LOOP(FOUR("mov %%rcx, 4160(%1)\n mov 64(%%r8), %%rax\n add %%rax, %%r8\n"), "r"(memory));
}
static void locked_adds(uint64_t rounds) {
  LOOP("lock addq $1, (%1)\n", "r"(memory));
}
static void exchanges(uint64_t rounds) {
  LOOP("xchg %%rax, (%1)\n", "r"(memory));
}
static void compare_exchanges(uint64_t rounds) {
  LOOP("lock cmpxchg %%rcx, (%1)\n", "r"(memory));
}

#else

static void loads(uint64_t rounds) {
  LOOP(EIGHT("ldr x9, [%1]\n"), "r"(memory));
}
static void stores(uint64_t rounds) {
  LOOP(EIGHT("str x9, [%1]\n"), "r"(memory));
}
static void chase(uint64_t rounds) {
  __asm__ volatile("mov x9, %0\n" ::"r"(memory) : "x9");
  LOOP("ldr x9, [x9]\n");
}
static void stream(uint64_t rounds) {
  __asm__ volatile("mov x10, #0\n" ::: "x10");
  LOOP(
      "add x11, %1, x10\n ldr x9, [x11]\n ldr x9, [x11, #8]\n ldr x9, [x11, #16]\n"
      "ldr x9, [x11, #24]\n ldr x9, [x11, #32]\n ldr x9, [x11, #40]\n ldr x9, [x11, #48]\n"
      "ldr x9, [x11, #56]\n add x10, x10, #64\n and x10, x10, %2\n",
      "r"(memory), "r"(memory_bytes - 1));
}
static void fill(uint64_t rounds) {
  __asm__ volatile("mov x10, #0\n" ::: "x10");
  LOOP(
      "add x11, %1, x10\n str x9, [x11]\n str x9, [x11, #8]\n str x9, [x11, #16]\n"
      "str x9, [x11, #24]\n str x9, [x11, #32]\n str x9, [x11, #40]\n str x9, [x11, #48]\n"
      "str x9, [x11, #56]\n add x10, x10, #64\n and x10, x10, %2\n",
      "r"(memory), "r"(memory_bytes - 1));
}
static void gather(uint64_t rounds) {
  __asm__ volatile("mov x10, #1\n mov x12, #1013\n" ::: "x10", "x12");
  LOOP(
      "mul x10, x10, %3\n add x10, x10, x12\n lsr x11, x10, #20\n and x11, x11, %2\n"
      "ldr x13, [%1, x11]\n add x9, x9, x13\n",
      "r"(memory), "r"((memory_bytes - 1) & ~(uint64_t)7), "r"(6364136223846793005u));
}
static void one_set(uint64_t rounds) {
  __asm__ volatile("mov x10, #0\n" ::: "x10");
  LOOP("ldr x9, [%1, x10]\n add x10, x10, #4096\n and x10, x10, %2\n", "r"(memory),
       "r"(memory_bytes - 1));
}
static void refused(uint64_t rounds) {
  LOOP("str w9, [%1]\n str w9, [%1, #4]\n ldr x9, [%1]\n", "r"(memory));
}
static void aliases(uint64_t rounds) {
  __asm__ volatile("mov x9, #0\n mov x10, %0\n add x11, %0, #4096\n" ::"r"(memory)
                   : "x9", "x10", "x11");
  LOOP(FOUR("str xzr, [x11, #64]\n ldr x12, [x10, #64]\n add x10, x10, x12\n"));
}
static void locked_adds(uint64_t rounds) {
  LOOP("2: ldaxr x9, [%1]\n add x9, x9, #1\n stlxr w10, x9, [%1]\n cbnz w10, 2b\n", "r"(memory));
}
static void exchanges(uint64_t rounds) {
  LOOP("2: ldaxr x9, [%1]\n stlxr w10, x11, [%1]\n cbnz w10, 2b\n", "r"(memory));
}
static void compare_exchanges(uint64_t rounds) {
  LOOP("2: ldaxr x9, [%1]\n cmp x9, x9\n stlxr w10, x11, [%1]\n cbnz w10, 2b\n", "r"(memory));
}

#endif

const struct Kernel kMemory[] = {
    {"loads", make_slots, loads},
    {"stores", make_slots, stores},
    {"chase", make_chase, chase},
    {"page-chase", make_page_chase, chase},
    {"stream", make_array, stream},
    {"fill", make_array, fill},
    {"gather", make_array, gather},
    {"one-set", make_array, one_set},
    {"refused-forwards", make_slots, refused},
    {"aliases", make_slots, aliases},
    {"locked-adds", make_slots, locked_adds},
    {"exchanges", make_slots, exchanges},
    {"compare-exchanges", make_slots, compare_exchanges},
    {0},
};
