/* Kernels without memory: instructions that wait for each other, or for a unit; fences. */

#include "validate/kernels/kernels.h"

#if defined(__x86_64__)
#define NOP "nop\n"
#define ADD "add %%rax, %%rax\n"
#define MULTIPLY "imul %%rax, %%rax\n"
#define DIVIDE "xor %%edx, %%edx\n mov $1000000007, %%eax\n div %%r8\n"
#define DIVISOR "mov $7, %%r8d\n"
#define FP_ADD "addsd %%xmm1, %%xmm0\n"
#define FP_ROOT "sqrtsd %%xmm1, %%xmm0\n"
#define FENCE "mfence\n"
#else
#define NOP "nop\n"
#define ADD "add x9, x9, x9\n"
#define MULTIPLY "mul x9, x9, x9\n"
#define DIVIDE "mov x10, #49370\n movk x10, #15258, lsl #16\n udiv x11, x10, x12\n"
#define DIVISOR "mov x12, #7\n"
#define FP_ADD "fadd d0, d0, d1\n"
#define FP_ROOT "fsqrt d0, d1\n"
#define FENCE "dmb ish\n"
#endif

static void nops(uint64_t rounds) {
  LOOP(SIX(FOUR(NOP)));
}
static void adds(uint64_t rounds) {
  LOOP(SIX(ADD));
}
static void multiplications(uint64_t rounds) {
  LOOP(SIX(MULTIPLY));
}
static void divisions(uint64_t rounds) {
  LOOP(DIVISOR DIVIDE);
}
static void fp_adds(uint64_t rounds) {
  LOOP(SIX(FP_ADD));
}
static void fp_roots(uint64_t rounds) {
  LOOP(TWO(FP_ROOT));
}
static void fences(uint64_t rounds) {
  LOOP(FENCE);
}

const struct Kernel kComputing[] = {
    {"nops", nothing, nops},
    {"adds", nothing, adds},
    {"multiplications", nothing, multiplications},
    {"divisions", nothing, divisions},
    {"fp-adds", nothing, fp_adds},
    {"fp-roots", nothing, fp_roots},
    {"fences", nothing, fences},
    {0},
};
