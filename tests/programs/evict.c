// Code and data that evict each other: takes turns running 192 KiB of straight code and
// visiting each line of 192 KiB of data.
//
//   evict code|data|both ROUNDS
#include <stdlib.h>

enum { kLines = 3072 };  // of 64 bytes: 192 KiB

// An instruction of four bytes that waits for nothing, sixteen in a line.
#if defined(__aarch64__)
#define INSTRUCTION "add x0, x1, #1"
#else
#define INSTRUCTION "lea 1(%rdi), %rax"
#endif
void kernel_code(void);
__asm__(
    ".text\n.balign 4096\n.globl kernel_code\n.type kernel_code, %function\nkernel_code:\n"
    ".rept 3072 * 16\n" INSTRUCTION "\n.endr\nret\n.size kernel_code, . - kernel_code\n");

static __attribute__((noinline)) void** kernel_data(void** at) {
  for (long i = 0; i < kLines; ++i) at = (void**)*at;
  return at;
}

int main(int count, char** words) {
  if (count < 3) return 2;
  char* data = aligned_alloc(4096, kLines * 64);
  for (long i = 0; i < kLines; ++i) *(char**)(data + i * 64) = data + (i + 1) % kLines * 64;
  void** at = (void**)data;
  const long rounds = atol(words[2]);
  for (long i = 0; i < rounds; ++i) {
    if (*words[1] != 'd') kernel_code();
    if (*words[1] != 'c') at = kernel_data(at);
  }
  return at == NULL;
}
