/* What a kernel for `culprit scan` needs, in C and C++.
 *
 *     const long runs = culprit_runs(argc, argv);    // the loop count: argv[1], or CULPRIT_RUNS
 *     CULPRIT_CHANGED(b);                            // once: the compiler forgets what b holds
 *     for (long n = 0; n < runs; ++n) {
 *       CULPRIT_CHANGED(a);                          // each time: a may hold anything
 *       add(a, b);
 *     }
 *     return culprit_use(&a, sizeof a);              // all of the result is used
 *
 * The compiler may then neither drop the work, nor do it once for all iterations, nor know its
 * operands; and nothing is loaded or stored for the macro's own sake: an operand that the compiler
 * keeps in memory stays there, and CULPRIT_CHANGED_VALUE is for those in registers. "memory" in the
 * clobbers would reload every other operand as well.
 *
 * Licence: Apache-2.0 WITH LLVM-exception; or copy it as you like.
 */
#ifndef CULPRIT_KERNEL_H
#define CULPRIT_KERNEL_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* An object in memory: an array, a struct. */
#define CULPRIT_CHANGED(object) __asm__ volatile("" : "+m"(object))

/* A number in a general register, or a float or double in a vector register. */
#define CULPRIT_CHANGED_VALUE(number) __asm__ volatile("" : "+r"(number))
#if defined(__x86_64__)
#define CULPRIT_CHANGED_FLOAT(number) __asm__ volatile("" : "+x"(number))
#elif defined(__aarch64__)
#define CULPRIT_CHANGED_FLOAT(number) __asm__ volatile("" : "+w"(number))
#endif

/* The loop count, which ends this process if there is none. */
static inline long culprit_runs(int argc, char** argv) {
  const char* const text = argc > 1 ? argv[1] : getenv("CULPRIT_RUNS");
  if (text == NULL) {
    fprintf(stderr, "usage: %s RUNS\n", argc > 0 ? argv[0] : "kernel");
    exit(2);
  }
  return strtol(text, NULL, 10);
}

/* Uses every byte of a result. Always 0, which the compiler does not know. */
static inline int culprit_use(const void* result, size_t size) {
  const unsigned char* const bytes = (const unsigned char*)result;
  volatile unsigned char sum = 0;
  for (size_t i = 0; i < size; ++i) sum = (unsigned char)(sum + bytes[i]);
  return sum > 255;
}

#endif
