/* Kernels of branches, calls and code. */

#include "validate/kernels/kernels.h"

/* A random word per round, without memory: xorshift64, nine instructions on x86-64 (of two
 * operands), six on aarch64. Marsaglia, Journal of Statistical Software 8:14 (2003). */
#if defined(__x86_64__)
#define SEED "mov $88172645463325252, %%rax\n"
#define SEED_CLOBBER "rax"
#define RANDOM                                                                                \
  "mov %%rax, %%rcx\n shl $13, %%rcx\n xor %%rcx, %%rax\n mov %%rax, %%rcx\n shr $7, %%rcx\n" \
  "xor %%rcx, %%rax\n mov %%rax, %%rcx\n shl $17, %%rcx\n xor %%rcx, %%rax\n"
#define BRANCH "test $1024, %%eax\n jz 2f\n nop\n 2:\n"
#define REGULAR_BRANCH "test $1, %b0\n jz 2f\n nop\n 2:\n"
#define CALL "call 2f\n"
#define FUNCTION "jmp 3f\n .p2align 4\n 2: ret\n 3:\n"
#define BELOW_RED_ZONE "sub $128, %%rsp\n"
#define BACK "add $128, %%rsp\n"
#else
#define SEED "mov x9, #12345\n movk x9, #54321, lsl #16\n movk x9, #777, lsl #32\n"
#define SEED_CLOBBER "x9"
#define RANDOM "eor x9, x9, x9, lsl #13\n eor x9, x9, x9, lsr #7\n eor x9, x9, x9, lsl #17\n"
#define BRANCH "tst x9, #1024\n b.eq 2f\n nop\n 2:\n"
#define REGULAR_BRANCH "tst %0, #1\n b.eq 2f\n nop\n 2:\n"
#define CALL "bl 2f\n"
#define FUNCTION "b 3f\n .p2align 4\n 2: ret\n 3:\n"
#define BELOW_RED_ZONE ""
#define BACK ""
#endif

/* These skip a nop half of the time. */
static void regular_branches(uint64_t rounds) {
  LOOP(REGULAR_BRANCH);
}
static void random_branches(uint64_t rounds) {
  __asm__ volatile(SEED ::: SEED_CLOBBER);
  LOOP(RANDOM BRANCH);
}
/* The same without the branch: what it costs is the difference. */
static void random_words(uint64_t rounds) {
  __asm__ volatile(SEED ::: SEED_CLOBBER);
  LOOP(RANDOM);
}

static void calls(uint64_t rounds) {
#if defined(__x86_64__)
  __asm__ volatile(BELOW_RED_ZONE ".p2align 6\n1:\n" CALL "dec %0\n jnz 1b\n" FUNCTION BACK
                   : "+r"(rounds)::"cc", "memory");
#else
  __asm__ volatile(".p2align 6\n1:\n" CALL "subs %0, %0, #1\n b.ne 1b\n" FUNCTION
                   : "+r"(rounds)::"x30", "cc", "memory");
#endif
}

/* A round is a descent of 100 calls: more than processors remember returns of. */
static void deep_calls(uint64_t rounds) {
#if defined(__x86_64__)
  __asm__ volatile(BELOW_RED_ZONE
                   ".p2align 6\n1: mov $100, %%ecx\n call 2f\n dec %0\n jnz 1b\n jmp 3f\n"
                   ".p2align 4\n 2: dec %%ecx\n jz 4f\n call 2b\n 4: ret\n 3:\n" BACK
                   : "+r"(rounds)::"rcx", "cc", "memory");
#else
  __asm__ volatile(
      ".p2align 6\n1: mov x9, #100\n bl 2f\n subs %0, %0, #1\n b.ne 1b\n b 3f\n"
      ".p2align 4\n 2: str x30, [sp, #-16]!\n subs x9, x9, #1\n b.eq 4f\n bl 2b\n"
      "4: ldr x30, [sp], #16\n ret\n 3:\n"
      : "+r"(rounds)::"x9", "x30", "cc", "memory");
#endif
}

/* One of four places by a random word: three of four are not where the last one went. */
static void random_jumps(uint64_t rounds) {
#if defined(__x86_64__)
  __asm__ volatile(SEED ::: SEED_CLOBBER);
  LOOP(RANDOM
       "mov %%eax, %%edx\n and $0x1800, %%edx\n shr $7, %%edx\n lea 2f(%%rip), %%r8\n"
       "add %%rdx, %%r8\n jmp *%%r8\n"
       ".p2align 4\n 2: jmp 3f\n .p2align 4\n jmp 3f\n .p2align 4\n jmp 3f\n .p2align 4\n jmp 3f\n"
       "3:\n");
#else
  __asm__ volatile(SEED ::: SEED_CLOBBER);
  LOOP(RANDOM
       "and x10, x9, #0x1800\n lsr x10, x10, #7\n adr x11, 2f\n add x11, x11, x10\n br x11\n"
       ".p2align 4\n 2: b 3f\n .p2align 4\n b 3f\n .p2align 4\n b 3f\n .p2align 4\n b 3f\n 3:\n");
#endif
}

/* A round is 256 KiB of code, straight on. */
static void straight_code(uint64_t rounds) {
#if defined(__x86_64__)
  LOOP(".rept 32768\n .byte 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n .endr\n");
#else
  __asm__ volatile(
      ".p2align 6\n1:\n .rept 65536\n nop\n .endr\n subs %0, %0, #1\n b.eq 2f\n b 1b\n 2:\n"
      : "+r"(rounds)::"cc");
#endif
}

const struct Kernel kControl[] = {
    {"regular-branches", nothing, regular_branches},
    {"random-branches", nothing, random_branches},
    {"random-words", nothing, random_words},
    {"calls", nothing, calls},
    {"deep-calls", nothing, deep_calls},
    {"random-jumps", nothing, random_jumps},
    {"straight-code", nothing, straight_code},
    {0},
};
