// Kernels of instructions that wait for each other, or for a unit.

#include "kernels.h"

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

const struct Kernel kChains[] = {
    {"dependent-adds", nothing, dependent_adds},
    {"four-chains", nothing, four_chains},
    {"multiply-chain", nothing, multiply_chain},
    {"multiply-throughput", nothing, multiply_throughput},
    {"divide-chain", nothing, divide_chain},
    {"fp-add-chain", nothing, fp_add_chain},
    {"fp-multiply-throughput", nothing, fp_multiply_throughput},
    {"sqrt-chain", nothing, sqrt_chain},
    {0},
};
