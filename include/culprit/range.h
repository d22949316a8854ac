/* Marks parts of memory of a program for `culprit record --engine simulate --objects`. Nothing has
 * to be linked: without Culprit a mark is a call of an empty function of the program's own.
 *
 *   culprit_range("matrix", a, n * sizeof *a);     C (GCC, Clang) and C++
 *   culprit_thread_range("mine", part, bytes);     what this thread does there
 *
 * From then on the bytes are a data object of that name. The same name again is another part of the
 * same object; of a thread's own range what other threads do there is not a part. What is marked of
 * a block of the heap ends when the block is freed, or when its memory is another block's. Fortran:
 * culprit_range.f90 beside this file. */
#ifndef CULPRIT_RANGE_H
#define CULPRIT_RANGE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Culprit knows it by its name, where the program's symbols are there, and reads its arguments. It
 * is weak: a compiler must not think that it knows what is called. */
__attribute__((weak, noinline, visibility("hidden"))) void culprit_range_mark(const char* name,
                                                                              const void* at,
                                                                              unsigned long bytes) {
  __asm__ volatile("" : : "r"(name), "r"(at), "r"(bytes) : "memory");
}

__attribute__((weak, noinline, visibility("hidden"))) void culprit_thread_range_mark(
    const char* name, const void* at, unsigned long bytes) {
  __asm__ volatile("" : : "r"(name), "r"(at), "r"(bytes) : "memory");
}

#ifdef __cplusplus
}
#endif

#define culprit_range(name, at, bytes) culprit_range_mark(name, at, bytes)
#define culprit_thread_range(name, at, bytes) culprit_thread_range_mark(name, at, bytes)

#endif
