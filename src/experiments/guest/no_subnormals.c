// Results and operands below the smallest normal number are zero, as -Ofast and audio programs
// have it. Threads inherit the setting from the one that starts them.
// Source: Intel SDM, volume 1, 10.2.3 (MXCSR: flush to zero, denormals are zeros); Arm ARM, FPCR.FZ

#if defined __x86_64__
#include <xmmintrin.h>

__attribute__((constructor)) static void flush_subnormals(void) {
  const unsigned kFlushResults = 1u << 15, kFlushOperands = 1u << 6;
  _mm_setcsr(_mm_getcsr() | kFlushResults | kFlushOperands);
}

#elif defined __aarch64__

__attribute__((constructor)) static void flush_subnormals(void) {
  const unsigned long kFlush = 1ul << 24;
  unsigned long control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  __asm__ volatile("msr fpcr, %0" : : "r"(control | kFlush));
}

#endif
