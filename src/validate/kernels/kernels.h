#pragma once

/* What the files of kernels share. A kernel runs `rounds` times what its name says, in instructions
 * that are written out, so that what happens in a round can be counted by hand: families.cc does.
 */

#include <stddef.h>
#include <stdint.h>

struct Kernel {
  const char* name;
  void (*prepare)(size_t bytes); /* what it works on; bytes of the third argument, 0: none */
  void (*run)(uint64_t rounds);
};

/* Each ends with one that has no name. */
extern const struct Kernel kComputing[];
extern const struct Kernel kMemory[];
extern const struct Kernel kControl[];

/* Memory that is all there, whole lines, in large pages if the kernel has them. */
extern char* memory;
extern size_t memory_bytes;
void allocate(size_t bytes);
void allocate_in_small_pages(size_t bytes);

void nothing(size_t bytes);

/* `body`, then two instructions that count rounds down, of which the second is a branch. On x86-64
 * r8 to r11, rax, rcx, rdx and xmm0 to 7 are free for it, on aarch64 x9 to x15 and d0 to d7. */
#if defined(__x86_64__)
#define LOOP(body, ...)                                                                   \
  __asm__ volatile(".p2align 6\n1:\n" body "dec %0\n jnz 1b\n"                            \
                   : "+r"(rounds)                                                         \
                   : __VA_ARGS__                                                          \
                   : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "cc", \
                     "memory")
#else
#define LOOP(body, ...)                                                                       \
  __asm__ volatile(".p2align 6\n1:\n" body "subs %0, %0, #1\n b.ne 1b\n"                      \
                   : "+r"(rounds)                                                             \
                   : __VA_ARGS__                                                              \
                   : "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x30", "d0", "d1", "cc", \
                     "memory")
#endif
#define TWO(text) text text
#define FOUR(text) text text text text
#define SIX(text) text text text text text text
#define EIGHT(text) FOUR(text) FOUR(text)
