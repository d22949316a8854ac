// What the files of kernels share: how one looks, and the memory that it works on.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NOINLINE __attribute__((noinline))

/// Only `run` is measured and modelled; `prepare` makes what it works on.
struct Kernel {
  const char* name;
  void (*prepare)(void);
  uint64_t (*run)(uint64_t rounds);
};

// Each ends with one that has no name.
extern const struct Kernel kChains[];
extern const struct Kernel kMemory[];
extern const struct Kernel kBranches[];
extern const struct Kernel kInstructions[];

extern void* memory;
extern size_t memory_bytes;

/// `bytes` of memory, whole large pages, all of them written.
void allocate(size_t bytes);
/// The same, of random values.
void allocate_random(size_t bytes);

// To prepare: nothing, and 64 KiB of random values.
void nothing(void);
void make_64k_random_bytes(void);

/// `rounds` of the instructions in `body`, beside a count that goes down.
#define LOOP(body)                                                                                 \
  __asm__ volatile(".p2align 6\n1:\n" body "dec %0\n jnz 1b\n"                                     \
                   : "+r"(rounds)                                                                  \
                   :                                                                               \
                   : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "xmm0", "xmm1", "xmm2", \
                     "xmm3", "xmm4", "cc", "memory")
#define FOUR(text) text text text text
